//! Reads the program that SQLite compiled from a statement, and refuses what the plugin may not open or call.
//!
//! The second guard beside the authorizer, and independent of it: the authorizer is asked about names while a statement is
//! resolved, and not about all of them (a column of `USING` is read without a question). What a program opens is its root
//! pages, and they are all in its `Open` instructions, with those of the triggers and foreign keys that it runs. Only a
//! statement on rows is looked at, once, before it runs for the first time.

use std::collections::HashSet;

use rusqlite::{Connection, types::ValueRef};

use super::{confinement::Gate, functions};

/// The root pages of what a plugin's statements may open, in the main database.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Its tables and their indexes.
    own: HashSet<i64>,
    /// The counters of `AUTOINCREMENT`, which SQLite keeps in one table for everybody.
    counters: Option<i64>,
}

/// A root page and the table that it belongs to, in lower case.
pub(super) type Root = (String, i64);

impl Pages {
    /// Those of the tables that `is_own` says are, by their names in lower case.
    pub(super) fn of(roots: &[Root], is_own: impl Fn(&str) -> bool) -> Self {
        let own = roots.iter().filter(|(table, _)| is_own(table));
        let counters = roots.iter().find(|(table, _)| table == "sqlite_sequence");
        Self {
            own: own.map(|(_, page)| *page).collect(),
            counters: counters.map(|(_, page)| *page),
        }
    }
}

/// The root pages of all tables and indexes. In the host's phase.
pub(super) fn roots(connection: &Connection) -> Result<Vec<Root>, rusqlite::Error> {
    connection
        .prepare("SELECT lower(tbl_name), rootpage FROM sqlite_schema WHERE rootpage > 0")?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Why a statement on rows that the authorizer let pass may not run. In the plugin's phase; the statement is compiled once
/// more, and not run.
pub(super) fn refusal(
    connection: &Connection,
    gate: &Gate,
    sql: &str,
    pages: &Pages,
) -> Result<Option<String>, rusqlite::Error> {
    let mut calls = Calls::default();
    let program = program(connection, gate, sql)?;
    for (at, instruction) in program.iter().enumerate() {
        let refusal = match instruction.verdict(pages) {
            Verdict::Allowed => None,
            Verdict::Calls(name) => calls.refusal(name),
            Verdict::Computes => calls.bear(1),
            Verdict::Counters if is_of_counters(&program[at..]) => None,
            Verdict::MadeUp if is_of_json(connection, gate, &instruction.p4)? => None,
            Verdict::Counters | Verdict::MadeUp | Verdict::Foreign => {
                Some("the statement uses a table that is not the plugin's own".to_owned())
            }
            Verdict::Unknown => Some(format!(
                "the statement needs the instruction {}, which may not be used here",
                instruction.opcode
            )),
        };
        if refusal.is_some() {
            return Ok(refusal);
        }
    }
    Ok(None)
}

/// Why a definition may not run: what it calls by itself, to fill an index or to empty a table. Expressions that the
/// authorizer was asked about once may have been copied.
pub(super) fn calls(
    connection: &Connection,
    gate: &Gate,
    sql: &str,
) -> Result<Option<String>, rusqlite::Error> {
    let mut calls = Calls::default();
    let program = program(connection, gate, sql)?;
    Ok(program
        .iter()
        .find_map(|instruction| match instruction.verdict(&Pages::default()) {
            Verdict::Calls(name) => calls.refusal(name),
            Verdict::Computes => calls.bear(1),
            _ => None,
        }))
}

/// The functions in a program so far.
#[derive(Default)]
struct Calls {
    weight: u32,
}

impl Calls {
    fn refusal(&mut self, name: &str) -> Option<String> {
        if functions::is_allowed(name) {
            self.bear(functions::weight(name))
        } else {
            Some(format!("the function {name} may not be called"))
        }
    }

    fn bear(&mut self, weight: u32) -> Option<String> {
        self.weight += weight;
        (self.weight > functions::HEAVIEST).then(|| functions::TOO_HEAVY.to_owned())
    }
}

/// Whether a program begins by opening the counters of `AUTOINCREMENT` as an insertion does: to look up the one of its
/// table, or to write it back, and at once to close them. A table in a `FROM` is opened with the same instruction, and
/// what follows is another.
fn is_of_counters(program: &[Instruction]) -> bool {
    const READ: [&str; 14] = [
        "OpenRead", "String8", "Null", "Rewind", "Column", "Ne", "Rowid", "Column", "AddImm",
        "Copy", "Goto", "Next", "Integer", "Close",
    ];
    const WRITE: [&str; 6] = [
        "OpenWrite",
        "NotNull",
        "NewRowid",
        "MakeRecord",
        "Insert",
        "Close",
    ];
    let is = |opcodes: &[&str]| {
        opcodes.len() <= program.len()
            && opcodes
                .iter()
                .zip(program)
                .all(|(opcode, instruction)| instruction.opcode == *opcode)
            && program[opcodes.len() - 1].p1 == program[0].p1
    };
    is(&READ) || is(&WRITE)
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
    /// Does with values what takes as long as their texts are.
    Computes,
    /// Calls a function.
    Calls(&'a str),
    /// Opens the counters of `AUTOINCREMENT`.
    Counters,
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
    fn verdict(&self, pages: &Pages) -> Verdict<'_> {
        let opens = |page, database| match database {
            0 if pages.own.contains(&page) => Verdict::Allowed,
            0 if pages.counters == Some(page) => Verdict::Counters,
            _ => Verdict::Foreign,
        };
        match self.opcode.as_str() {
            "OpenRead" | "OpenWrite" | "ReopenIdx" if self.p5 & PAGE_IN_REGISTER == 0 => {
                opens(self.p2, self.p3)
            }
            // Of the counters, this would be all of them.
            "Clear" if pages.counters == Some(self.p1) => Verdict::Foreign,
            "Clear" => opens(self.p1, self.p2),
            "VOpen" => Verdict::MadeUp,
            // Tables in memory that the statement fills itself, and cursors on them.
            "OpenEphemeral" | "OpenAutoindex" | "OpenPseudo" | "OpenDup" => Verdict::Allowed,
            "VFilter" | "VColumn" | "VNext" | "VInitIn" => Verdict::Allowed,
            "Function" | "PureFunc" | "AggStep" | "AggStep1" | "AggInverse" | "AggValue"
            | "AggFinal" => Verdict::Calls(self.p4.split('(').next().unwrap_or_default()),
            "Add" | "Subtract" | "Multiply" | "Divide" | "Remainder" | "BitAnd" | "BitOr"
            | "BitNot" | "ShiftLeft" | "ShiftRight" | "Concat" | "Cast" | "Eq" | "Ne" | "Lt"
            | "Le" | "Gt" | "Ge" => Verdict::Computes,
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
