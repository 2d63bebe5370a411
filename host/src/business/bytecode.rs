//! Reads the program that SQLite compiled from a statement, and refuses what the plugin may not open or call.
//!
//! The second guard beside the authorizer, and independent of it: the authorizer is asked about names while a statement is
//! resolved, and not about all of them (a column of `USING` is read without a question). What a program opens is its root
//! pages, and they are all in its `Open` instructions, with those of the triggers and foreign keys that it runs. Only a
//! statement on rows is looked at, once, before it runs for the first time.

use std::collections::HashSet;

use rusqlite::{Connection, types::ValueRef};

use super::{
    confinement::{Gate, May},
    functions, statements,
};

/// The root pages of what a plugin's statements may open, in the main database.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Its tables and their indexes.
    pub(super) own: HashSet<i64>,
    /// The counters of `AUTOINCREMENT`, which SQLite keeps in one table for everybody.
    pub(super) sequence: Option<i64>,
}

impl Pages {
    /// Reads those of the tables that `is_own` says are, by their names in lower case. In the host's phase.
    pub(super) fn read(
        connection: &Connection,
        is_own: impl Fn(&str) -> bool,
    ) -> Result<Self, rusqlite::Error> {
        let mut pages = Self::default();
        for (table, page) in roots(connection)? {
            pages.add(&table, page, is_own(&table));
        }
        Ok(pages)
    }

    /// Adds the root page of a table, or of an index of it.
    pub(super) fn add(&mut self, table: &str, page: i64, is_own: bool) {
        if is_own {
            self.own.insert(page);
        } else if table == "sqlite_sequence" {
            self.sequence = Some(page);
        }
    }

    fn may_open(&self, page: i64, may: May) -> bool {
        self.own.contains(&page) || (may != May::Read && self.sequence == Some(page))
    }
}

/// Each table with a root page of its own or of an index, the table's name in lower case.
pub(super) fn roots(connection: &Connection) -> Result<Vec<(String, i64)>, rusqlite::Error> {
    connection
        .prepare("SELECT lower(tbl_name), rootpage FROM sqlite_schema WHERE rootpage > 0")?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Why a statement that the authorizer let pass may not run: a name in its text, or an instruction of its program. In the
/// plugin's phase; the statement is compiled once more, and not run.
pub(super) fn refusal(
    connection: &Connection,
    gate: &Gate,
    sql: &str,
    pages: &Pages,
    may: May,
) -> Result<Option<String>, rusqlite::Error> {
    match statements::hidden_name(sql) {
        Some(refusal) => Ok(Some(refusal)),
        None => of_program(connection, gate, sql, pages, may),
    }
}

/// The part of [`refusal`] that rests on the program alone.
pub(super) fn of_program(
    connection: &Connection,
    gate: &Gate,
    sql: &str,
    pages: &Pages,
    may: May,
) -> Result<Option<String>, rusqlite::Error> {
    let mut weight = 0;
    for instruction in program(connection, gate, sql)? {
        let refusal = match instruction.verdict(pages, may) {
            Verdict::Allowed => continue,
            Verdict::Calls(name) => {
                weight += functions::weight(name);
                if !functions::is_allowed(name) {
                    format!("the function {name} may not be called")
                } else if weight > functions::HEAVIEST {
                    "the statement calls too many functions".to_owned()
                } else {
                    continue;
                }
            }
            Verdict::MadeUp if is_of_json(connection, gate, &instruction.p4)? => continue,
            Verdict::MadeUp | Verdict::Foreign => {
                "the statement uses a table that is not the plugin's own".to_owned()
            }
            Verdict::Unknown => format!(
                "the statement needs the instruction {}, which may not be used here",
                instruction.opcode
            ),
        };
        return Ok(Some(refusal));
    }
    Ok(None)
}

/// One line of `EXPLAIN`; see "The SQLite Bytecode Engine".
struct Instruction {
    opcode: String,
    p1: i64,
    p2: i64,
    p3: i64,
    p4: String,
    p5: i64,
}

/// What an instruction is for a plugin.
enum Verdict<'a> {
    Allowed,
    /// Calls a function.
    Calls(&'a str),
    /// Opens a table that a module makes up.
    MadeUp,
    /// Opens a table or an index that is none of those which may be opened.
    Foreign,
    /// Does what no statement on rows needs.
    Unknown,
}

/// Of `OpenWrite`'s p5: the root page stands in a register.
const PAGE_IN_REGISTER: i64 = 0x10;

impl Instruction {
    fn verdict(&self, pages: &Pages, may: May) -> Verdict<'_> {
        let opens = |page, database| {
            if database == 0 && pages.may_open(page, may) {
                Verdict::Allowed
            } else {
                Verdict::Foreign
            }
        };
        match self.opcode.as_str() {
            "OpenRead" | "OpenWrite" | "ReopenIdx" if self.p5 & PAGE_IN_REGISTER == 0 => {
                opens(self.p2, self.p3)
            }
            "Clear" => opens(self.p1, self.p2),
            "VOpen" => Verdict::MadeUp,
            // Tables in memory that the statement fills itself, and cursors on them.
            "OpenEphemeral" | "OpenAutoindex" | "OpenPseudo" | "OpenDup" => Verdict::Allowed,
            "VFilter" | "VColumn" | "VNext" | "VInitIn" => Verdict::Allowed,
            "Function" | "PureFunc" | "AggStep" | "AggStep1" | "AggInverse" | "AggValue"
            | "AggFinal" => Verdict::Calls(self.p4.split('(').next().unwrap_or_default()),
            // Changes of the schema and of the file, transactions, and any way to open that is not known above.
            "AutoCommit" | "Savepoint" | "Destroy" | "CreateBtree" | "SqlExec" | "ParseSchema"
            | "LoadAnalysis" | "DropTable" | "DropIndex" | "DropTrigger" | "SetCookie"
            | "ReadCookie" | "Checkpoint" | "JournalMode" | "IncrVacuum" | "IntegrityCk"
            | "TableLock" | "Pagecount" | "MaxPgcnt" | "Expire" | "Offset" => Verdict::Unknown,
            "Variable" => Verdict::Allowed,
            other
                if ["Open", "Reopen", "V"]
                    .iter()
                    .any(|kind| other.starts_with(kind)) =>
            {
                Verdict::Unknown
            }
            _ => Verdict::Allowed,
        }
    }
}

fn program(
    connection: &Connection,
    gate: &Gate,
    sql: &str,
) -> Result<Vec<Instruction>, rusqlite::Error> {
    // The functions are resolved a second time.
    gate.weigh_anew();
    connection
        .prepare(&format!("EXPLAIN {sql}"))?
        .raw_query()
        .mapped(|row| {
            Ok(Instruction {
                opcode: row.get(1)?,
                p1: row.get(2)?,
                p2: row.get(3)?,
                p3: row.get(4)?,
                p4: text_of(row.get_ref(5)?),
                p5: row.get(6)?,
            })
        })
        .collect()
}

/// A literal of the statement that is not UTF-8 may stand there as well.
fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

/// Whether a module's table, given as the program shows it, is one of the two that may be used: a program shows no name,
/// only which table of the connection it is.
fn is_of_json(connection: &Connection, gate: &Gate, table: &str) -> Result<bool, rusqlite::Error> {
    for name in ["json_each", "json_tree"] {
        let probe = program(connection, gate, &format!("SELECT 1 FROM {name}"))?;
        let mut opened = probe.iter().filter(|it| it.opcode == "VOpen");
        if opened.any(|it| !it.p4.is_empty() && it.p4 == table) {
            return Ok(true);
        }
    }
    Ok(false)
}
