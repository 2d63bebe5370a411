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
    BusinessError, SqlLimits, added_column,
    bytecode::{self, Pages, roots},
    catalog::{Objects, Owned, is_reserved},
    confinement::{Gate, May, Phase, Rules, TOO_LARGE, monotonic, narrow, widen},
    own_schema::{OwnSchema, definitions},
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

    /// The error of the commit: what the plugin's tables defer is checked by it.
    pub(super) fn at_commit(&self, error: SqliteError) -> Error {
        match error {
            SqliteError::Statement { source, .. }
                if source.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
            {
                BusinessError::ScriptFailed {
                    plugin: self.plugin.clone(),
                    what: self.what.clone(),
                    source,
                }
                .into()
            }
            other => other.into(),
        }
    }

    fn statements(
        &self,
        connection: &Connection,
        path: &Path,
        gate: &Gate,
        within: Within,
    ) -> Result<(), Error> {
        let of = |e| SqliteError::of(path, e);
        // What stands behind it, SQLite would not read.
        if self.sql.contains('\0') {
            return Err(self.refused("it holds a NUL".into()));
        }
        let mut own = owned(connection, self.plugin).map_err(of)?;
        let mut before = schema(connection).map_err(of)?;
        let mut rules = rules_of(&own, connection).map_err(of)?;
        for statement in statements::split(self.sql) {
            rules.may = self.verb(statement)?;
            let confined = Confined {
                script: self,
                connection,
                path,
                gate,
                within,
                rules: rules.clone(),
            };
            confined.run(statement)?;
            if rules.may != May::Write {
                let after = schema(connection).map_err(of)?;
                self.compare(&before, &after, &mut own)?;
                before = after;
                rules = rules_of(&own, connection).map_err(of)?;
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
                    rules.may = may;
                    let confined = Confined {
                        script: self,
                        connection,
                        path,
                        gate,
                        within,
                        rules: rules.clone(),
                    };
                    confined.prepare(&probe)?;
                }
            }
            let confined = Confined {
                script: self,
                connection,
                path,
                gate,
                within,
                rules,
            };
            confined.stand_alone()?;
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
            ("", _) => Err(self.refused("a statement begins with no word".into())),
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
        let refusal = match self.alone(statement) {
            Ok(None) => self.confined(statement, run),
            other => other,
        };
        self.told(refusal)
    }

    /// Whether all that the plugin defined finds what it names among the plugin's own.
    fn stand_alone(self) -> Result<(), Error> {
        let missing = self.rules.own.schema.missing(self.within.deadline);
        self.told(missing.map(|missing| {
            missing.map(|what| {
                format!("a definition names what is not there, or is not the plugin's own: {what}")
            })
        }))
    }

    /// The error of a refusal, or of a failure.
    fn told(&self, refusal: Result<Option<String>, rusqlite::Error>) -> Result<(), Error> {
        let result = match refusal {
            Ok(Some(refusal)) => return Err(self.script.refused(refusal)),
            Ok(None) => Ok(()),
            Err(rusqlite::Error::SqliteFailure(code, _)) if code.code == ErrorCode::OutOfMemory => {
                Err(rusqlite::Error::SqliteFailure(code, Some(TOO_LARGE.into())))
            }
            Err(error) => Err(error),
        };
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

    /// Why the statement may not run, or what is wrong with it, as if there were nothing but what is the plugin's.
    fn alone(&self, statement: &str) -> Result<Option<String>, rusqlite::Error> {
        if let Some(refusal) = statements::refusal(statement) {
            return Ok(Some(refusal));
        }
        let until = self.within.deadline;
        let schema = &self.rules.own.schema;
        match schema.refusal(statement, &self.rules, self.connection, until)? {
            None if self.rules.may == May::Alter => {
                added_column::refusal(statement, &self.rules, self.connection, until)
            }
            refusal => Ok(refusal),
        }
    }

    /// Runs the statement, or says why it may not.
    fn confined(
        &self,
        statement: &str,
        run: impl FnOnce(Statement<'_>) -> Result<(), rusqlite::Error>,
    ) -> Result<Option<String>, rusqlite::Error> {
        let Self {
            connection, gate, ..
        } = *self;
        gate.enter(Phase::Plugin(self.rules.clone()));
        gate.interrupt_at(self.within.deadline);
        let result = connection.prepare(statement).and_then(|prepared| {
            let refusal = match self.rules.may {
                May::Read | May::Write => {
                    bytecode::refusal(connection, gate, statement, &self.rules.own.pages)?
                }
                May::Create | May::CreateTrigger | May::Drop => {
                    bytecode::calls(connection, gate, statement)?
                }
                May::Alter => None,
            };
            match refusal {
                None => run(prepared).map(|()| None),
                refusal => Ok(refusal),
            }
        });
        let refusal = gate.take_refusal();
        gate.enter(Phase::Host);
        refusal.map_or(result, |refusal| Ok(Some(refusal)))
    }
}

fn rules_of(own: &Names, connection: &Connection) -> Result<Rules, rusqlite::Error> {
    let is_own = |table: &str| own.contains(table);
    Ok(Rules {
        own: Owned {
            names: Arc::new(own.clone()),
            pages: Arc::new(Pages::of(&roots(connection)?, is_own)),
            schema: Arc::new(OwnSchema::of(&definitions(connection)?, is_own)),
        },
        objects: Arc::new(Objects::read(connection)?),
        // Nothing of a script is kept prepared.
        version: -1,
        may: May::Read,
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
