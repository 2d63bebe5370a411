//! Reads SQL text just far enough to split it into statements and to find a clause that no hook of SQLite shows.
//!
//! Not a parser, and nothing rests on it alone: each piece is prepared as exactly one statement, under the authorizer.

/// A token that matters here; comments and blanks are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A bare word.
    Word(&'a str),
    Semicolon,
    /// A quoted text or name, a number, an operator.
    Other,
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

/// Yields each token with the place after it.
struct Tokens<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn of(sql: &'a str) -> Self {
        Self { sql, at: 0 }
    }

    /// The place after `mark`, which is searched from `from`; the end of the text where there is none.
    fn after(&self, from: usize, mark: &str) -> usize {
        self.sql
            .get(from..)
            .and_then(|rest| rest.find(mark))
            .map_or(self.sql.len(), |found| from + found + mark.len())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Token<'a>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.sql.as_bytes();
        let is_word = |byte: &u8| {
            byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$' || *byte >= 0x80
        };
        loop {
            let start = self.at;
            let first = *bytes.get(start)?;
            match first {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c => self.at += 1,
                b'-' if bytes.get(start + 1) == Some(&b'-') => self.at = self.after(start, "\n"),
                b'/' if bytes.get(start + 1) == Some(&b'*') => {
                    self.at = self.after(start + 2, "*/")
                }
                b';' => {
                    self.at += 1;
                    return Some((Token::Semicolon, self.at));
                }
                b'\'' | b'"' | b'`' | b'[' => {
                    let close = match first {
                        b'\'' => "'",
                        b'"' => "\"",
                        b'`' => "`",
                        _ => "]",
                    };
                    // A doubled quote inside reads as two quoted tokens side by side, which changes nothing here.
                    self.at = self.after(start + 1, close);
                    return Some((Token::Other, self.at));
                }
                byte if is_word(&byte) => {
                    let length = bytes[start..].iter().take_while(|b| is_word(b)).count();
                    self.at += length;
                    return Some((Token::Word(&self.sql[start..self.at]), self.at));
                }
                _ => {
                    self.at += 1;
                    return Some((Token::Other, self.at));
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
    }
}
