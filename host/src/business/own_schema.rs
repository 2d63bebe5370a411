//! What a plugin's names can mean: its own tables, indexes, views and triggers by themselves, in a database in memory
//! without rows.
//!
//! A new statement is prepared here first. Whatever a name in it stands for, wherever it stands, and whether SQLite reads it
//! or optimises it away: here there is nothing but the plugin's own, and so what SQLite says of a wrong statement says
//! nothing about anybody else's tables. Nothing of a plugin's runs here. Used by `plugin_sql` and `script`.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use rusqlite::{Connection, Error, ErrorCode, ffi};

use super::{
    bytecode,
    catalog::{Objects, is_reserved},
    confinement::{Gate, Phase, Rules, confine, narrow_like},
    statements,
};
use crate::sqlite::open;

/// The definitions, and the database once it is needed.
#[derive(Debug, Default)]
pub(super) struct OwnSchema {
    definitions: Vec<String>,
    made: Mutex<Option<Made>>,
}

#[derive(Debug)]
struct Made {
    connection: Connection,
    gate: Arc<Gate>,
}

/// One definition of a database: the table it belongs to, in lower case, and its text.
pub(super) type Definition = (String, String);

impl OwnSchema {
    /// Of the tables that `is_own` says are, by their names in lower case.
    pub(super) fn of(all: &[Definition], is_own: impl Fn(&str) -> bool) -> Self {
        let own = all.iter().filter(|(table, _)| is_own(table));
        Self {
            definitions: own.map(|(_, sql)| sql.clone()).collect(),
            made: Mutex::default(),
        }
    }

    /// Why a statement may not be run, or what SQLite says of it. Prepares it until `until`, within the limits of `like`.
    pub(super) fn refusal(
        &self,
        sql: &str,
        rules: &Rules,
        like: &Connection,
        until: Instant,
    ) -> Result<Option<String>, Error> {
        self.with(|connection, gate| {
            narrow_like(connection, like)?;
            gate.enter(Phase::Plugin(rules.clone()));
            gate.interrupt_at(until);
            let result = connection.prepare(sql).map(drop);
            let refusal = gate.take_refusal();
            gate.enter(Phase::Host);
            match (refusal, result) {
                (Some(refusal), _) => Ok(Some(refusal)),
                (None, Ok(())) => Ok(None),
                (None, Err(error)) => foreign(&error, &rules.objects).map(Some).ok_or(error),
            }
        })
    }

    /// Adds a definition that [`Self::refusal`] let pass.
    pub(super) fn define(&self, sql: &str) -> Result<(), Error> {
        self.with(|connection, _| connection.execute_batch(sql))
    }

    /// As [`bytecode::calls`], of a statement of the host's.
    pub(super) fn calls(&self, sql: &str) -> Result<Option<String>, Error> {
        self.with(|connection, gate| bytecode::calls(connection, gate, sql))
    }

    /// What the definitions are missing here. SQLite looks at all views and triggers, down to expressions that nothing uses,
    /// whenever anything in a database is renamed; so one that names somebody else's table would make that plugin's
    /// migrations fail. Until `until`; nothing can be prepared here afterwards.
    pub(super) fn missing(&self, until: Instant) -> Result<Option<String>, Error> {
        self.with(|connection, gate| {
            gate.interrupt_at(until);
            let result = rename(connection);
            gate.enter(Phase::Host);
            match result {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
                    Ok(Some(error.to_string()))
                }
                result => result,
            }
        })
    }

    fn with<R>(
        &self,
        run: impl FnOnce(&Connection, &Arc<Gate>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match &mut *made {
            Some(made) => made,
            none => none.insert(Made::of(&self.definitions)?),
        };
        run(&made.connection, &made.gate)
    }
}

impl Made {
    fn of(definitions: &[String]) -> Result<Self, Error> {
        // Only memory can be missing.
        let no_memory = |_| Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOMEM), None);
        let mut connection = open::in_memory().map_err(no_memory)?;
        let gate = Gate::new();
        confine(&mut connection, &gate)?;
        for definition in definitions {
            connection.execute_batch(definition)?;
        }
        Ok(Self { connection, gate })
    }
}

/// Renames tables, at which SQLite says what the views and triggers are missing. Not all of it: in a `WITH` that nothing
/// uses it misses nothing. But where a table has the name that stands there, it writes that one anew as well.
fn rename(connection: &Connection) -> Result<Option<String>, Error> {
    connection.execute_batch(
        "CREATE TABLE wharf_trial (a);
         ALTER TABLE wharf_trial RENAME COLUMN a TO b;
         ALTER TABLE wharf_trial RENAME TO wharf_tried;",
    )?;
    let names = |sql| {
        connection
            .prepare(sql)?
            .query_map((), |row| row.get(0))?
            .collect::<Result<BTreeSet<String>, Error>>()
    };
    let views = "SELECT sql FROM sqlite_schema WHERE type = 'view'";
    let before = names(views)?;
    let taken = names("SELECT lower(name) FROM sqlite_schema")?;
    let words = before
        .iter()
        .flat_map(|view| statements::words_with_expressions(view))
        // As it is written, and what it stands for where a quote is doubled in it.
        .flat_map(|word| [word.to_ascii_lowercase(), word.to_ascii_lowercase().replace("\"\"", "\"")])
        .filter(|word| !taken.contains(word) && !is_reserved(word))
        .collect::<BTreeSet<_>>();
    let quoted = |word: &str| word.replace('"', "\"\"");
    for word in &words {
        connection.execute_batch(&format!("CREATE TABLE \"{}\" (a)", quoted(word)))?;
    }
    for (number, word) in words.iter().enumerate() {
        connection.execute_batch(&format!(
            "ALTER TABLE \"{}\" RENAME TO wharf_{number}",
            quoted(word)
        ))?;
        if names(views)? != before {
            return Ok(Some(format!("no such table: {word}")));
        }
    }
    Ok(None)
}

/// All definitions of a database, each after what it needs. In the host's phase.
pub(super) fn definitions(connection: &Connection) -> Result<Vec<Definition>, Error> {
    connection
        .prepare(
            "SELECT lower(tbl_name), sql FROM sqlite_schema WHERE sql IS NOT NULL
             ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid",
        )?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The refusal, where SQLite misses something here that is in the database itself.
fn foreign(error: &Error, objects: &Objects) -> Option<String> {
    let (Error::SqlInputError { msg: message, .. } | Error::SqliteFailure(_, Some(message))) =
        error
    else {
        return None;
    };
    let name = ["table", "view", "index"]
        .iter()
        .find_map(|kind| message.strip_prefix(&format!("no such {kind}: ")))?;
    let name = match name.split_once('.') {
        Some((schema, name)) if schema.eq_ignore_ascii_case("main") => name,
        _ => name,
    };
    objects
        .contains(&name.to_ascii_lowercase())
        .then(|| format!("{name} is not the plugin's own"))
}
