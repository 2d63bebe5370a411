//! Reads SQL text just far enough to split it into statements, to find a clause that no hook of SQLite shows, and to find
//! names that no text of a plugin may hold.
//!
//! Tokens end where SQLite's end; beyond that it is no parser, and nothing rests on it alone: each piece is prepared as
//! exactly one statement, under the authorizer, and what it compiles to is looked at (`bytecode`).

use super::catalog::is_hidden;

/// A token that matters here; comments and blanks are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A bare word.
    Word(&'a str),
    Semicolon,
    /// A quoted name, without its quotes.
    Name(&'a str),
    /// A text, without its quotes.
    Text(&'a str),
    /// A parameter.
    Variable(&'a str),
    /// A blob, or a byte of an operator.
    Other(u8),
}

impl Token<'_> {
    fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }
}

/// The statements of a script, without empty ones. A `CREATE TRIGGER` ends with its `END`.
pub(super) fn split(sql: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut seen: Vec<Token<'_>> = Vec::new();
    for (token, end) in Tokens::of(sql) {
        seen.push(token);
        if token != Token::Semicolon {
            continue;
        }
        let closed = match seen.as_slice() {
            [.., before, last, Token::Semicolon] => *before == Token::Semicolon && last.is("END"),
            _ => false,
        };
        if is_trigger(&seen) && !closed {
            continue;
        }
        if seen.len() > 1 {
            pieces.push(&sql[start..end]);
        }
        seen.clear();
        start = end;
    }
    if !seen.is_empty() {
        pieces.push(&sql[start..]);
    }
    pieces
}

fn is_trigger(tokens: &[Token<'_>]) -> bool {
    let [create, rest @ ..] = tokens else {
        return false;
    };
    create.is("CREATE")
        && match rest {
            [first, second, ..] if first.is("TEMP") || first.is("TEMPORARY") => {
                second.is("TRIGGER")
            }
            [first, ..] => first.is("TRIGGER"),
            [] => false,
        }
}

/// What sort of statement a text is, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It reads or changes rows.
    Rows,
    /// Any other statement of SQLite's.
    Other,
    /// None.
    None,
}

/// The sort of a statement.
pub(super) fn kind(sql: &str) -> Kind {
    const ROWS: [&str; 7] = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE", "VALUES",
    ];
    const OTHER: [&str; 16] = [
        "ALTER",
        "ANALYZE",
        "ATTACH",
        "BEGIN",
        "COMMIT",
        "CREATE",
        "DETACH",
        "DROP",
        "END",
        "EXPLAIN",
        "PRAGMA",
        "REINDEX",
        "RELEASE",
        "ROLLBACK",
        "SAVEPOINT",
        "VACUUM",
    ];
    match Tokens::of(sql).next() {
        Some((token, _)) if ROWS.iter().any(|word| token.is(word)) => Kind::Rows,
        Some((token, _)) if OTHER.iter().any(|word| token.is(word)) => Kind::Other,
        _ => Kind::None,
    }
}

/// The first word of a statement, in upper case; empty where it begins otherwise.
pub(super) fn verb(statement: &str) -> String {
    match Tokens::of(statement).next() {
        Some((Token::Word(word), _)) => word.to_ascii_uppercase(),
        _ => String::new(),
    }
}

/// Whether `ON CONFLICT ROLLBACK` stands in a definition. SQLite then ends the whole transaction when the constraint
/// fails; neither the authorizer nor a pragma shows it.
pub(super) fn rolls_back_on_conflict(sql: &str) -> bool {
    let tokens: Vec<_> = Tokens::of(sql).map(|(token, _)| token).collect();
    tokens
        .windows(3)
        .any(|three| three[0].is("ON") && three[1].is("CONFLICT") && three[2].is("ROLLBACK"))
}

/// Why a text may not be a plugin's: it holds the name of something that is the host's or SQLite's, in whatever spelling
/// and place. A text between single quotes counts where all of it could be such a name: SQLite takes it for one where a
/// name has to stand. And a parameter's name ends where its letters do: SQLite knows some that go on, over quotes and
/// comments, to a parenthesis.
pub(super) fn refusal(sql: &str) -> Option<String> {
    Tokens::of(sql).find_map(|(token, _)| {
        let name = match token {
            Token::Variable(name) if name[1..].contains(['(', ':']) => {
                return Some("a parameter's name may not go on after its letters".into());
            }
            Token::Word(name) | Token::Name(name) => name,
            Token::Text(text) if text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                text
            }
            _ => return None,
        };
        is_hidden(name).then(|| {
            format!("{name} is not the plugin's own: names like it may not be used anywhere")
        })
    })
}

/// What could be a name in a definition with a `WITH`; nothing of any other. More than there are names: keywords, too.
pub(super) fn words_with_expressions(definition: &str) -> Vec<&str> {
    let tokens: Vec<_> = Tokens::of(definition).map(|(token, _)| token).collect();
    if !tokens.iter().any(|token| token.is("WITH")) {
        return Vec::new();
    }
    let words = tokens.into_iter().filter_map(|token| match token {
        Token::Word(word) | Token::Name(word) | Token::Text(word) => Some(word),
        _ => None,
    });
    words.collect()
}

/// What an `ALTER TABLE` does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Alteration<'a> {
    /// Gives a table or a column another name.
    Rename,
    /// Adds a column.
    Add {
        /// The table, as it is written between its quotes.
        table: &'a str,
        /// The column's definition, without what stands behind it.
        column: &'a str,
    },
    /// Anything else.
    Other,
}

/// Reads a statement that begins with `ALTER`.
pub(super) fn alteration(statement: &str) -> Alteration<'_> {
    let tokens: Vec<_> = Tokens::of(statement)
        .filter(|(token, _)| *token != Token::Semicolon)
        .collect();
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|(token, _)| token.is(word));
    let name = if tokens
        .get(3)
        .is_some_and(|(token, _)| *token == Token::Other(b'.'))
    {
        4
    } else {
        2
    };
    let table = match tokens.get(name) {
        Some((Token::Word(table) | Token::Name(table) | Token::Text(table), _)) => *table,
        _ => return Alteration::Other,
    };
    if is(name + 1, "RENAME") {
        return Alteration::Rename;
    }
    let before = if is(name + 2, "COLUMN") {
        name + 2
    } else {
        name + 1
    };
    match (tokens.get(before), tokens.last()) {
        (Some((_, from)), Some((_, to))) if is(name + 1, "ADD") => Alteration::Add {
            table,
            column: &statement[*from..*to],
        },
        _ => Alteration::Other,
    }
}

/// A table's definition with one more column: the first one, since constraints of the table may follow the last.
pub(super) fn with_column(definition: &str, column: &str) -> String {
    let opened = Tokens::of(definition).find(|(token, _)| *token == Token::Other(b'('));
    let (head, tail) = definition.split_at(opened.map_or(definition.len(), |(_, end)| end));
    format!("{head}{column}\n,{tail}")
}

/// Yields each token with the place after it.
struct Tokens<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn of(sql: &'a str) -> Self {
        Self { sql, at: 0 }
    }

    /// What stands between quotes from `from` on, as it is written, and the place after them. A doubled quote is one of the
    /// text, brackets aside.
    fn quoted(&self, from: usize, close: u8) -> (&'a str, usize) {
        let bytes = self.sql.as_bytes();
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            if *byte == close {
                if close == b']' || bytes.get(at + 1) != Some(&close) {
                    return (&self.sql[from..at], at + 1);
                }
                at += 1;
            }
            at += 1;
        }
        (&self.sql[from..], bytes.len())
    }

    /// The place after a parameter that begins at `start`: `:name`, `$name::of::more(anything but a blank)`.
    fn variable(&self, start: usize) -> usize {
        let bytes = self.sql.as_bytes();
        let mut at = start + 1;
        let mut letters = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                byte if is_of_word(*byte) => letters += 1,
                b':' if bytes.get(at + 1) == Some(&b':') => at += 1,
                b'(' if letters > 0 => {
                    let is_end = |byte: &u8| *byte == b')' || is_blank(*byte);
                    let inside = bytes[at + 1..].iter().position(is_end);
                    let end = inside.map_or(bytes.len(), |inside| at + 1 + inside);
                    return if bytes.get(end) == Some(&b')') {
                        end + 1
                    } else {
                        end
                    };
                }
                _ => break,
            }
            at += 1;
        }
        at
    }

    /// The place after `mark`, which is searched from `from`; the end of the text where there is none.
    fn after(&self, from: usize, mark: &str) -> usize {
        self.sql
            .get(from..)
            .and_then(|rest| rest.find(mark))
            .map_or(self.sql.len(), |found| from + found + mark.len())
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Whether a byte goes on with a name, as SQLite has it.
const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Token<'a>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.sql.as_bytes();
        loop {
            let start = self.at;
            let first = *bytes.get(start)?;
            match first {
                blank if is_blank(blank) => self.at += 1,
                // A byte order mark, which SQLite reads as blank where a token could begin.
                0xef if bytes[start..].starts_with(b"\xef\xbb\xbf") => self.at += 3,
                b'-' if bytes.get(start + 1) == Some(&b'-') => self.at = self.after(start, "\n"),
                b'/' if bytes.get(start + 1) == Some(&b'*') => {
                    self.at = self.after(start + 2, "*/")
                }
                b';' => {
                    self.at += 1;
                    return Some((Token::Semicolon, self.at));
                }
                b'\'' | b'"' | b'`' | b'[' => {
                    let close = if first == b'[' { b']' } else { first };
                    let (text, end) = self.quoted(start + 1, close);
                    self.at = end;
                    let token = if first == b'\'' {
                        Token::Text(text)
                    } else {
                        Token::Name(text)
                    };
                    return Some((token, self.at));
                }
                b'x' | b'X' if bytes.get(start + 1) == Some(&b'\'') => {
                    self.at = self.after(start + 2, "'");
                    return Some((Token::Other(first), self.at));
                }
                b'?' => {
                    let digits = bytes[start + 1..].iter().take_while(|b| b.is_ascii_digit());
                    self.at += 1 + digits.count();
                    return Some((Token::Variable(&self.sql[start..self.at]), self.at));
                }
                b'$' | b'@' | b':' | b'#' => {
                    self.at = self.variable(start);
                    return Some((Token::Variable(&self.sql[start..self.at]), self.at));
                }
                byte if is_of_word(byte) => {
                    self.at += bytes[start..]
                        .iter()
                        .take_while(|b| is_of_word(**b))
                        .count();
                    return Some((Token::Word(&self.sql[start..self.at]), self.at));
                }
                // No byte of a longer character gets here.
                _ => {
                    self.at += 1;
                    return Some((Token::Other(first), self.at));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_split_at_its_statements_and_a_trigger_stays_whole() {
        assert_eq!(
            split("; SELECT 1; -- a;b\n SELECT ';' /* ; */ ;;SELECT \"a;\"\"b\""),
            [
                " SELECT 1;",
                " -- a;b\n SELECT ';' /* ; */ ;",
                "SELECT \"a;\"\"b\""
            ]
        );
        let trigger = "create trigger t after insert on a begin update a set x = case when 1 then 2 end; delete from b; end;";
        assert_eq!(
            split(&format!("{trigger} SELECT 1")),
            [trigger, " SELECT 1"]
        );
        assert!(split(" -- nothing\n /* unclosed").is_empty());
        assert_eq!(split("SELECT 'é; unclosed"), ["SELECT 'é; unclosed"]);
    }

    #[test]
    fn the_first_word_and_the_dangerous_clause_are_found_whatever_stands_between() {
        assert_eq!(verb("/* x */ create table t(a)"), "CREATE");
        assert_eq!(verb("(SELECT 1)"), "");
        assert!(rolls_back_on_conflict(
            "CREATE TABLE t(a UNIQUE on/**/Conflict -- x\n ROLLBACK)"
        ));
        assert!(!rolls_back_on_conflict(
            "CREATE TABLE t(a UNIQUE ON CONFLICT FAIL, b DEFAULT 'ON CONFLICT ROLLBACK')"
        ));
        for blank in ["\u{feff}", "\u{feff}\u{feff} ", " \u{b}"] {
            let text = format!("CREATE TABLE t(a UNIQUE ON CONFLICT {blank}ROLLBACK)");
            assert!(rolls_back_on_conflict(&text), "{blank:?}");
        }
    }

    #[test]
    fn a_name_of_the_hosts_is_found_in_every_spelling_and_a_text_about_it_is_none() {
        for text in [
            "SELECT 1 FROM wharf_x",
            "SELECT 1 FROM \u{feff}WHARF_x",
            "SELECT 1 FROM \"wharf_x\"",
            "SELECT 1 FROM [Sqlite_ x]",
            "SELECT 1 FROM `pragma_x`",
            "SELECT 1 FROM 'wharf_x'",
            "SELECT 1 FROM a.sqlite_x",
            "SELECT \'\' FROM dbstat",
            "SELECT \'\'\'\' FROM(wharf_x)",
            "SELECT 1/**/FROM/*'*/wharf_x",
            "SELECT 1 FROM -- '\nwharf_x",
            "SELECT 1 FROM \"wharf_x",
            "SELECT ?1wharf_x",
            "SELECT x'00''wharf_x'",
            "SELECT 1 WHERE 1 IN:a wharf_x",
        ] {
            assert!(refusal(text).is_some(), "{text}");
        }
        for text in [
            "SELECT 'wharf_x is the host\'\'s', 'a wharf_x'",
            "SELECT 'it\'\'s', 'a\'\'wharf_x'",
            "SELECT wharf, sqlite, pragma, my_wharf_x FROM wharfs -- wharf_x",
            "SELECT /* sqlite_x */ json_each FROM json_tree",
            "SELECT ?1, ?, :a, @b, $c, #d, :a$b, ?1e, :wharf_x, x'00'",
        ] {
            assert_eq!(refusal(text), None, "{text}");
        }
    }

    /// SQLite reads `$a(')` as one parameter. Where the quote was taken for the beginning of a text, all that stood between it
    /// and the next one was hidden in it: the names of other tables, and whole statements.
    #[test]
    fn a_parameter_ends_where_sqlite_ends_it_and_one_that_goes_on_is_refused() {
        for parameter in [
            "$a(')", "$a(\")", "$a(`)", "$a([)", "$a(--)", "$a(/*)", "$a(;)", "@a(')", ":a(')",
            "#a(')", "$a::b(')", "$::a(')", "$a::", "$a(", "$a('", ":a()",
        ] {
            let text = format!("SELECT {parameter} FROM wharf_x; SELECT 2");
            let end = Tokens::of(&text).nth(1).unwrap().1;
            assert_eq!(&text["SELECT ".len()..end], parameter);
            assert_eq!(split(&text).len(), 2, "{text}");
            let refused = refusal(&text).unwrap();
            assert!(refused.contains("parameter's name"), "{text}: {refused}");
        }
        let hidden =
            "CREATE TABLE t (a DEFAULT ($a(')), b UNIQUE ON CONFLICT ROLLBACK, c DEFAULT ($b(')))";
        assert!(rolls_back_on_conflict(hidden));
    }

    #[test]
    fn the_column_that_is_added_is_found_and_stands_first_in_its_table() {
        let add = |statement| match alteration(statement) {
            Alteration::Add { table, column } => {
                with_column(&format!("CREATE TABLE \"{table} (\"(a, CHECK (a))"), column)
            }
            other => format!("{other:?}"),
        };
        for (statement, expected) in [
            (
                "ALTER TABLE t ADD b",
                "CREATE TABLE \"t (\"( b\n,a, CHECK (a))",
            ),
            (
                "alter/**/table [main] . 'u' add COLUMN \"b c\" TEXT CHECK (b > ';') /* ; */ ; -- x",
                "CREATE TABLE \"u (\"( \"b c\" TEXT CHECK (b > ';')\n,a, CHECK (a))",
            ),
            ("ALTER TABLE t RENAME TO u", "Rename"),
            ("ALTER TABLE main.t RENAME COLUMN a TO b", "Rename"),
            ("ALTER TABLE t DROP COLUMN a", "Other"),
            ("ALTER TABLE", "Other"),
            ("ALTER TABLE t", "Other"),
            ("ALTER TABLE (t) ADD b", "Other"),
        ] {
            assert_eq!(add(statement), expected, "{statement}");
        }
    }
}
