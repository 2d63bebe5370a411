//! Runs a script on a plugin's behalf, statement by statement, and checks what it did to the schema.
//!
//! Two guards: the authorizer, by the verb of each statement; then a comparison of the schema before and after, which
//! looks at the result and not at the text. Whatever is refused fails the whole script; its transaction is the caller's,
//! `migrations` and `seed`, to roll back.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, Statement};

use super::{
    BusinessError, SqlLimits,
    bytecode::{self, Pages},
    catalog::is_reserved,
    confinement::{Gate, May, Phase, Rules, monotonic, narrow, widen},
    quota::Full,
    statements,
};
use crate::{
    sqlite::error::SqliteError,
    words::{error::Error, id::PluginName},
};

/// Bytes of one script's statement.
const STATEMENT_BYTES: i32 = 1024 * 1024;
/// Instructions of one statement's program: many rows in one `INSERT` are usual here.
const INSTRUCTIONS: i32 = 250_000;

/// What a script may do beside changing rows of the plugin's own tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Define tables, indexes and views.
    Definitions,
    /// Create triggers on the plugin's tables.
    Triggers,
}

/// One script, inside an open transaction.
pub(super) struct Script<'a> {
    pub(super) plugin: &'a PluginName,
    /// For messages: `migration 3`, `the seed`.
    pub(super) what: String,
    pub(super) sql: &'a str,
    pub(super) allowed: Allowed,
}

/// What a script may use.
#[derive(Debug, Clone, Copy)]
struct Within {
    deadline: Instant,
    /// Bytes that the file may have.
    size: u64,
}

/// One row of `sqlite_schema`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Object {
    kind: String,
    table: String,
    sql: String,
}

type Schema = BTreeMap<String, Object>;
/// Names in lower case.
type Names = HashSet<String>;

impl Script<'_> {
    /// Runs all statements and brings `wharf_tables` up to date.
    pub(super) fn run(
        &self,
        connection: &Connection,
        path: &Path,
        gate: &Gate,
        limits: &SqlLimits,
    ) -> Result<(), Error> {
        let within = Within {
            deadline: monotonic() + Duration::from_millis(limits.install_millis.get().into()),
            size: limits.workspace_bytes.get(),
        };
        let of = |e| SqliteError::of(path, e);
        let host = narrow(
            connection,
            limits.value_bytes.get(),
            STATEMENT_BYTES,
            INSTRUCTIONS,
        )
        .map_err(of)?;
        gate.limit_values(limits.value_bytes.get());
        let result = self.statements(connection, path, gate, within);
        gate.enter(Phase::Host);
        widen(connection, &host);
        result
    }

    fn statements(
        &self,
        connection: &Connection,
        path: &Path,
        gate: &Gate,
        within: Within,
    ) -> Result<(), Error> {
        let of = |e| SqliteError::of(path, e);
        let mut own = owned(connection, self.plugin).map_err(of)?;
        let mut before = schema(connection).map_err(of)?;
        for statement in statements::split(self.sql) {
            let may = self.verb(statement)?;
            let confined = Confined {
                script: self,
                connection,
                path,
                gate,
                within,
                rules: rules(&own, &before, connection, may).map_err(of)?,
            };
            confined.run(statement)?;
            if may != May::Write {
                let after = schema(connection).map_err(of)?;
                self.compare(&before, &after, &mut own)?;
                before = after;
            }
        }
        if self.allowed == Allowed::Definitions {
            for (name, object) in before.iter().filter(|(name, _)| own.contains(&fold(name))) {
                let parents = parents(connection, name).map_err(of)?;
                if let Some(parent) = parents.iter().find(|parent| !own.contains(&fold(parent))) {
                    return Err(self.refused(format!(
                        "the table {name} refers to {parent}, which is not the plugin's own"
                    )));
                }
                // What a definition calls or reads shows when a statement that needs it is prepared.
                let name = name.replace('"', "\"\"");
                let mut probes = vec![(May::Read, format!("SELECT * FROM \"{name}\""))];
                if object.kind == "table" {
                    probes.push((May::Write, format!("INSERT INTO \"{name}\" DEFAULT VALUES")));
                }
                for (may, probe) in probes {
                    let confined = Confined {
                        script: self,
                        connection,
                        path,
                        gate,
                        within,
                        rules: rules(&own, &before, connection, may).map_err(of)?,
                    };
                    confined.prepare(&probe)?;
                }
            }
            self.record(connection, &before, &own).map_err(of)?;
        }
        Ok(())
    }

    fn verb(&self, statement: &str) -> Result<May, Error> {
        match (statements::verb(statement).as_str(), self.allowed) {
            ("CREATE", Allowed::Definitions) => Ok(May::Create),
            ("DROP", Allowed::Definitions) => Ok(May::Drop),
            ("ALTER", Allowed::Definitions) => Ok(May::Alter),
            ("CREATE", Allowed::Triggers) => Ok(May::CreateTrigger),
            ("INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "WITH" | "SELECT", _) => Ok(May::Write),
            (verb, _) => Err(self.refused(format!("a statement begins with {verb:?}"))),
        }
    }

    /// Refuses a change of anything that is not the plugin's own, and keeps `own` up to date.
    fn compare(&self, before: &Schema, after: &Schema, own: &mut Names) -> Result<(), Error> {
        for (name, old) in before {
            if after.get(name) == Some(old) {
                continue;
            }
            if !own.contains(&fold(&old.table)) {
                return Err(
                    self.refused(format!("it changes {name}, which is not the plugin's own"))
                );
            }
        }
        // Tables and views first: an index may stand before its table in the order of names.
        let is_owner = |object: &Object| object.kind == "table" || object.kind == "view";
        let new: Vec<_> = after
            .iter()
            .filter(|(name, object)| before.get(*name) != Some(*object))
            .collect();
        own.retain(|name| {
            after.keys().any(|key| fold(key) == *name)
                || !before.keys().any(|key| fold(key) == *name)
        });
        for (name, object) in new.iter().filter(|(_, object)| is_owner(object)) {
            if *name == "sqlite_sequence" {
                continue;
            }
            if is_reserved(name)
                || object
                    .sql
                    .to_ascii_uppercase()
                    .starts_with("CREATE VIRTUAL")
            {
                return Err(self.refused(format!("the name or the kind of {name} is the host's")));
            }
            own.insert(fold(name));
        }
        for (name, object) in new {
            let kind = object.kind.as_str();
            let fits = match self.allowed {
                Allowed::Definitions => kind != "trigger" || before.contains_key(name),
                Allowed::Triggers => kind == "trigger",
            };
            if name != "sqlite_sequence" && !(fits && own.contains(&fold(&object.table))) {
                return Err(self.refused(format!("the {kind} {name} may not be created")));
            }
            if self.allowed == Allowed::Definitions
                && statements::rolls_back_on_conflict(&object.sql)
            {
                return Err(self.refused(format!("{name} is declared with ON CONFLICT ROLLBACK")));
            }
        }
        Ok(())
    }

    fn record(
        &self,
        connection: &Connection,
        schema: &Schema,
        own: &Names,
    ) -> Result<(), rusqlite::Error> {
        connection.execute(
            "DELETE FROM wharf_tables WHERE plugin = ?1",
            [self.plugin.as_str()],
        )?;
        for (name, object) in schema {
            if own.contains(&fold(name)) && (object.kind == "table" || object.kind == "view") {
                connection.execute(
                    "INSERT INTO wharf_tables (name, plugin, kind) VALUES (?1, ?2, ?3)",
                    (name, self.plugin.as_str(), &object.kind),
                )?;
            }
        }
        Ok(())
    }

    fn refused(&self, reason: String) -> Error {
        BusinessError::ScriptRefused {
            plugin: self.plugin.clone(),
            what: self.what.clone(),
            reason,
        }
        .into()
    }
}

/// One statement of a script, in the plugin's phase.
struct Confined<'a> {
    script: &'a Script<'a>,
    connection: &'a Connection,
    path: &'a Path,
    gate: &'a Gate,
    within: Within,
    rules: Rules,
}

impl Confined<'_> {
    fn run(self, statement: &str) -> Result<(), Error> {
        self.enter(statement, |mut prepared| {
            let mut rows = prepared.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    fn prepare(self, statement: &str) -> Result<(), Error> {
        self.enter(statement, |_| Ok(()))
    }

    fn enter(
        self,
        statement: &str,
        run: impl FnOnce(Statement<'_>) -> Result<(), rusqlite::Error>,
    ) -> Result<(), Error> {
        let (pages, may) = (Arc::clone(&self.rules.pages), self.rules.may);
        self.gate.enter(Phase::Plugin(self.rules));
        self.gate.interrupt_at(self.within.deadline);
        let mut hidden = None;
        let result = self.connection.prepare(statement).and_then(|prepared| {
            hidden = if matches!(may, May::Read | May::Write) {
                bytecode::refusal(self.connection, self.gate, statement, &pages, may)?
            } else {
                statements::hidden_name(statement)
            };
            match hidden {
                Some(_) => Ok(()),
                None => run(prepared),
            }
        });
        if result.is_err() && hidden.is_none() {
            hidden = statements::hidden_name(statement);
        }
        let refusal = self.gate.take_refusal();
        self.gate.enter(Phase::Host);
        if let Some(reason) = refusal.as_ref().or(hidden.as_ref()) {
            return Err(self.script.refused(reason.clone()));
        }
        let (plugin, what) = (self.script.plugin.clone(), self.script.what.clone());
        match result {
            Err(source) => match source.sqlite_error_code() {
                Some(
                    ErrorCode::OperationInterrupted | ErrorCode::TooBig | ErrorCode::OutOfMemory,
                ) => Err(BusinessError::ScriptLimit {
                    plugin,
                    what,
                    source,
                }
                .into()),
                Some(ErrorCode::DiskFull) => {
                    let full = Full::of(self.connection, self.path, self.within.size);
                    Err(match full {
                        Some(full) => BusinessError::from(full).into(),
                        None => SqliteError::of(self.path, source).into(),
                    })
                }
                Some(
                    ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::CannotOpen,
                ) => Err(SqliteError::of(self.path, source).into()),
                Some(ErrorCode::AuthorizationForStatementDenied) => {
                    Err(self.script.refused(source.to_string()))
                }
                _ => Err(BusinessError::ScriptFailed {
                    plugin,
                    what,
                    source,
                }
                .into()),
            },
            Ok(()) if self.connection.is_autocommit() => Err(self
                .script
                .refused("a statement ended the transaction".into())),
            Ok(()) => Ok(()),
        }
    }
}

fn rules(
    own: &Names,
    schema: &Schema,
    connection: &Connection,
    may: May,
) -> Result<Rules, rusqlite::Error> {
    let mut objects: Names = schema.keys().map(|name| fold(name)).collect();
    let is_shadowed = objects.contains("json_each") || objects.contains("json_tree");
    let mut modules = connection.prepare_cached("SELECT lower(name) FROM pragma_module_list")?;
    for module in modules.query_map((), |row| row.get(0))? {
        objects.insert(module?);
    }
    Ok(Rules {
        own: Arc::new(own.clone()),
        objects: Arc::new(objects),
        pages: Arc::new(Pages::read(connection, |table| own.contains(table))?),
        is_shadowed,
        // Nothing of a script is kept prepared.
        version: -1,
        may,
    })
}

fn owned(connection: &Connection, plugin: &PluginName) -> Result<Names, rusqlite::Error> {
    connection
        .prepare("SELECT lower(name) FROM wharf_tables WHERE plugin = ?1")?
        .query_map([plugin.as_str()], |row| row.get(0))?
        .collect()
}

fn schema(connection: &Connection) -> Result<Schema, rusqlite::Error> {
    connection
        .prepare("SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_schema")?
        .query_map((), |row| {
            Ok((
                row.get(0)?,
                Object {
                    kind: row.get(1)?,
                    table: row.get(2)?,
                    sql: row.get(3)?,
                },
            ))
        })?
        .collect()
}

/// The tables that a table's foreign keys refer to.
fn parents(connection: &Connection, table: &str) -> Result<Vec<String>, rusqlite::Error> {
    connection
        .prepare("SELECT \"table\" FROM pragma_foreign_key_list(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

fn fold(name: &str) -> String {
    name.to_ascii_lowercase()
}
