//! A SQLite database that answers as the host's transaction does.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use rusqlite::backup::Backup;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Null, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};

use super::Tx;
use crate::{RowSet, Sql, SqlError, Value};

/// Bytes of one value or row, as in the host.
const VALUE_BYTES: i32 = 128 * 1024;

/// A plugin's database without a host. Its own statements are confined only inside
/// [`TestHost`](super::TestHost)'s transactions.
pub struct Database {
    connection: Connection,
    gate: Arc<Gate>,
}

#[derive(Default)]
struct Gate {
    may: AtomicU8,
    refused: AtomicBool,
}

/// What statements may do at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum May {
    Anything = 0,
    Write = 1,
    Read = 2,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the rule is for the host: here is no ledger to protect"
)]
impl Database {
    /// Opens a database file for reading: what a host has left there, say.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<Self, rusqlite::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::of(Connection::open_with_flags(path, flags)?)
    }

    pub(super) fn in_memory() -> Self {
        let connection = Connection::open_in_memory().expect("a database in memory");
        Self::of(connection).expect("a database in memory")
    }

    fn of(mut connection: Connection) -> Result<Self, rusqlite::Error> {
        let gate = Arc::new(Gate::default());
        let asked = Arc::clone(&gate);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            if allows(asked.may.load(Relaxed), &context) {
                return Authorization::Allow;
            }
            asked.refused.store(true, Relaxed);
            Authorization::Deny
        }))?;
        Ok(Self { connection, gate })
    }
}

impl Database {
    pub(super) fn copy(&self) -> Self {
        let mut copy = Self::in_memory();
        Backup::new(&self.connection, &mut copy.connection)
            .and_then(|backup| backup.step(-1))
            .expect("a copy in memory");
        copy
    }

    pub(super) fn run(&self, sql: &str) {
        if let Err(error) = self.connection.execute_batch(sql) {
            panic!("{error}");
        }
    }

    /// Runs `call` in a transaction, which it says whether to commit.
    pub(super) fn transaction<R>(&self, may: May, call: impl FnOnce(&Tx<'_>) -> (R, bool)) -> R {
        self.run("BEGIN IMMEDIATE");
        let host = self
            .connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES);
        self.gate.may.store(may as u8, Relaxed);
        let (answer, commit) = call(&Tx::over(self));
        self.gate.may.store(May::Anything as u8, Relaxed);
        if let Ok(host) = host {
            let _ = self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, host);
        }
        assert!(
            !self.connection.is_autocommit(),
            "a statement of the plugin ended the host's transaction"
        );
        self.run(if commit { "COMMIT" } else { "ROLLBACK" });
        answer
    }
}

impl Sql for Database {
    fn query(&self, sql: &str, params: &[Value]) -> Result<RowSet, SqlError> {
        let mut statement = self.prepare(sql, params)?;
        let columns: Vec<_> = statement.column_names().map(str::to_owned).collect();
        if columns.is_empty() {
            return Err(failed("the statement returns no rows: use execute"));
        }
        let mut found = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(of)? {
            let values = (0..columns.len()).map(|index| value(row.get_ref(index).map_err(of)?));
            found.push(values.collect::<Result<_, _>>()?);
        }
        Ok(RowSet {
            columns,
            rows: found,
        })
    }

    fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, SqlError> {
        let mut statement = self.prepare(sql, params)?;
        if statement.column_count() != 0 {
            return Err(failed("the statement returns rows: use query"));
        }
        Ok(statement.raw_execute().map_err(of)? as u64)
    }
}

impl Database {
    fn prepare(&self, sql: &str, params: &[Value]) -> Result<Statement<'_>, SqlError> {
        let prepared = self.connection.prepare(sql);
        if self.gate.refused.swap(false, Relaxed) {
            return Err(SqlError::Denied("the host would refuse this".to_owned()));
        }
        let mut statement = prepared.map_err(of)?;
        let expected = statement.parameter_count();
        if expected != params.len() {
            let given = params.len();
            let message = format!("the statement has {expected} parameters, {given} were given");
            return Err(failed(message));
        }
        for (index, value) in (1..).zip(params) {
            match value {
                Value::Null => statement.raw_bind_parameter(index, Null),
                Value::Integer(value) => statement.raw_bind_parameter(index, value),
                Value::Real(value) => statement.raw_bind_parameter(index, value),
                Value::Text(value) => statement.raw_bind_parameter(index, value),
                Value::Blob(value) => statement.raw_bind_parameter(index, value),
            }
            .map_err(of)?;
        }
        Ok(statement)
    }
}

fn value(value: ValueRef<'_>) -> Result<Value, SqlError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(
            String::from_utf8(bytes.to_vec())
                .map_err(|_| failed("a text in the result is not UTF-8"))?,
        ),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

fn failed(message: impl Into<String>) -> SqlError {
    SqlError::Failed(message.into())
}

fn of(error: rusqlite::Error) -> SqlError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => SqlError::Constraint(error.to_string()),
        Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => SqlError::Limit(error.to_string()),
        _ => match error {
            rusqlite::Error::MultipleStatement => {
                SqlError::Denied("one statement per call".to_owned())
            }
            other => failed(other.to_string()),
        },
    }
}

fn allows(may: u8, context: &AuthContext<'_>) -> bool {
    /// Without a fixed answer, or refused by the host for other reasons.
    const DENIED: &[&str] = &[
        "changes",
        "current_date",
        "current_time",
        "current_timestamp",
        "date",
        "datetime",
        "json_pretty",
        "julianday",
        "last_insert_rowid",
        "load_extension",
        "ltrim",
        "random",
        "randomblob",
        "rtrim",
        "strftime",
        "time",
        "timediff",
        "total_changes",
        "trim",
        "unhex",
        "unixepoch",
        "zeroblob",
    ];
    let own = |table: &str| !table.to_ascii_lowercase().starts_with("sqlite_");
    if may == May::Anything as u8 {
        return true;
    }
    match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => own(table_name),
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => may == May::Write as u8 && own(table_name),
        AuthAction::Function { function_name } => {
            let name = function_name.to_ascii_lowercase();
            !name.starts_with("sqlite_") && !DENIED.contains(&name.as_str())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;

    fn within(may: May, sql: &str, params: &[Value]) -> Result<(), SqlError> {
        let database = Database::in_memory();
        database.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT CHECK (b <> '')) STRICT");
        database.transaction(may, |tx| {
            let result = match sql.starts_with("SELECT") {
                true => tx.rows::<(Option<i64>,)>(sql, params).map(drop),
                false => tx.execute(sql, params).map(drop),
            };
            (result, true)
        })
    }

    #[test]
    fn a_plugin_reads_and_writes_rows_and_nothing_else() {
        const INSERT: &str = "INSERT INTO t (b) VALUES (?1)";
        assert_eq!(within(May::Write, INSERT, params!["x"]), Ok(()));
        assert!(matches!(
            within(May::Read, INSERT, params!["x"]),
            Err(SqlError::Denied(_))
        ));
        assert!(matches!(
            within(May::Write, INSERT, params![""]),
            Err(SqlError::Constraint(_))
        ));
        assert!(matches!(
            within(May::Write, INSERT, params![]),
            Err(SqlError::Failed(_))
        ));
        let long = "x".repeat(200_000);
        assert!(matches!(
            within(May::Write, INSERT, params![long]),
            Err(SqlError::Limit(_))
        ));
        for denied in [
            "SELECT random()",
            "SELECT count(*) FROM sqlite_master",
            "SELECT length(trim(' '))",
            "SELECT 1; SELECT 2",
            "DROP TABLE t",
            "CREATE TABLE u (a)",
            "PRAGMA user_version = 1",
            "COMMIT",
        ] {
            let refused = within(May::Write, denied, params![]);
            assert!(
                matches!(refused, Err(SqlError::Denied(_))),
                "{denied}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_copy_has_the_same_rows_and_a_life_of_its_own() {
        let database = Database::in_memory();
        database.run("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)");
        let copy = database.copy();
        copy.run("INSERT INTO t VALUES (2)");
        let count = |database: &Database| {
            let tx = Tx::over(database);
            tx.optional::<i64>("SELECT count(*) FROM t", params![])
                .expect("a count")
        };
        assert_eq!((count(&database), count(&copy)), (Some(1), Some(2)));
    }
}
