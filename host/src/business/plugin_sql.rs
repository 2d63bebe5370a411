//! A plugin's hand on the open transaction: one statement at a time, confined and bounded, until the call ends.
//!
//! Owns the connection for the duration of one call, and gives it back when the call is over; whoever still holds the
//! handle then is refused. Never commits, never rolls back. Used by `transaction` (writes) and `store` (reads).

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ErrorCode, Statement,
    limits::Limit,
    types::{Null, ValueRef},
};

use super::{
    BusinessError, SqlLimits,
    confinement::{Gate, Phase, Rules, monotonic, narrow, widen},
};
use crate::{
    core::ports::business::{RowSet, Sql, SqlFault, SqlValue},
    sqlite::error::SqliteError,
};

/// Bytes of one statement's text.
const STATEMENT_BYTES: i32 = 64 * 1024;
/// What a value counts beside its own length.
const VALUE_OVERHEAD: u64 = 16;

/// The [`Sql`] of one call.
pub(super) struct PluginSql {
    session: Mutex<Option<Session>>,
}

/// What a call may do and for how long.
pub(super) struct Terms {
    /// Tables and verbs.
    pub(super) rules: Rules,
    /// Limits.
    pub(super) limits: SqlLimits,
    /// When the write lock has to be free again.
    pub(super) until: Option<Instant>,
}

/// The connection as the call left it.
pub(super) struct Returned {
    /// The connection, in the host's phase.
    pub(super) connection: Connection,
    /// Why nothing may be committed.
    pub(super) lost: Option<BusinessError>,
}

struct Session {
    connection: Connection,
    gate: Arc<Gate>,
    restricted: Restricted,
    path: PathBuf,
    rows_per_query: u32,
    bytes_left: u64,
    time_left: Duration,
    until: Option<Instant>,
    lost: Option<Lost>,
}

/// Why nothing of the transaction may be committed.
#[derive(Clone)]
enum Lost {
    /// A statement ended it.
    Ended(String),
    /// A statement that wrote was interrupted.
    OutOfTime,
    /// A statement wrote and returned too much.
    TooMuch(String),
    /// The file failed under it.
    File(String),
}

impl Lost {
    fn error(self) -> BusinessError {
        match self {
            Self::Ended(reason) => BusinessError::TransactionLost { reason },
            Self::OutOfTime => BusinessError::OutOfTime,
            Self::TooMuch(reason) => BusinessError::ReturnedTooMuch { reason },
            Self::File(reason) => BusinessError::FileFailed { reason },
        }
    }
}

/// Why a statement did not end well.
enum Stop {
    Sqlite(rusqlite::Error),
    Fault(SqlFault),
    /// A query went over its limits.
    TooMuch(String),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The host's limits of a connection that was narrowed for a plugin.
pub(super) struct Restricted(Vec<(Limit, i32)>);

/// Narrows SQLite's own limits for a call; [`PluginSql::close`] gives the host its limits back.
pub(super) fn restrict(
    connection: &Connection,
    limits: &SqlLimits,
) -> Result<Restricted, rusqlite::Error> {
    narrow(connection, limits.value_bytes.get(), STATEMENT_BYTES).map(Restricted)
}

impl PluginSql {
    /// Takes the connection, inside its transaction and narrowed by [`restrict`], into the plugin's phase.
    pub(super) fn open(
        connection: Connection,
        restricted: Restricted,
        gate: &Arc<Gate>,
        terms: Terms,
    ) -> Arc<Self> {
        gate.enter(Phase::Plugin(terms.rules));
        let path = PathBuf::from(connection.path().unwrap_or_default());
        Arc::new(Self {
            session: Mutex::new(Some(Session {
                connection,
                gate: Arc::clone(gate),
                restricted,
                path,
                rows_per_query: terms.limits.rows_per_query.get(),
                bytes_left: terms.limits.bytes_per_call.get().into(),
                time_left: Duration::from_millis(terms.limits.sql_millis.get().into()),
                until: terms.until,
                lost: None,
            })),
        })
    }

    /// Ends the call: waits for a statement that still runs, and leaves nothing behind the handle. None the second time.
    pub(super) fn close(&self) -> Option<Returned> {
        let session = self
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()?;
        session.gate.enter(Phase::Host);
        widen(&session.connection, &session.restricted.0);
        Some(Returned {
            connection: session.connection,
            lost: session.lost.map(Lost::error),
        })
    }

    fn with<R>(
        &self,
        run: impl FnOnce(&mut Session) -> Result<R, SqlFault>,
    ) -> Result<R, SqlFault> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match session.as_mut() {
            Some(session) => run(session),
            None => Err(SqlFault::Denied("the transaction is closed".into())),
        }
    }
}

impl Drop for PluginSql {
    fn drop(&mut self) {
        // Only after a panic is there anything left: its transaction is rolled back as the connection closes, in the
        // host's phase, whoever holds the gate next.
        drop(self.close());
    }
}

impl Sql for PluginSql {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<RowSet, SqlFault> {
        self.with(|session| session.query(sql, parameters))
    }

    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SqlFault> {
        self.with(|session| session.execute(sql, parameters))
    }
}

impl Session {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<RowSet, SqlFault> {
        let mut left = Left {
            rows: self.rows_per_query,
            bytes: self.bytes_left,
        };
        let result = self.timed(|connection| {
            let mut statement = prepare(connection, sql)?;
            if statement.column_count() == 0 {
                return Err(failed("the statement returns no rows: use execute"));
            }
            bind(&mut statement, parameters)?;
            let writes = !statement.readonly();
            collect(&mut statement, &mut left).map_err(|stop| match stop {
                Stop::TooMuch(reason) if !writes => Stop::Fault(SqlFault::Limit(reason)),
                other => other,
            })
        });
        self.bytes_left = left.bytes;
        result
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SqlFault> {
        self.timed(|connection| {
            let mut statement = prepare(connection, sql)?;
            if statement.column_count() != 0 {
                return Err(failed("the statement returns rows: use query"));
            }
            bind(&mut statement, parameters)?;
            Ok(statement.raw_execute()? as u64)
        })
    }

    /// Runs one statement within the time that is left, and looks at what it left behind.
    fn timed<R>(
        &mut self,
        run: impl FnOnce(&Connection) -> Result<R, Stop>,
    ) -> Result<R, SqlFault> {
        if let Some(lost) = &self.lost {
            return Err(SqlFault::Fatal(lost.clone().error().into()));
        }
        let begun = monotonic();
        let end = begun + self.time_left;
        let end = self.until.map_or(end, |until| until.min(end));
        if end <= begun {
            return Err(out_of_time());
        }
        self.gate.interrupt_at(end);
        let result = run(&self.connection);
        self.time_left = self
            .time_left
            .saturating_sub(monotonic().saturating_duration_since(begun));
        let refusal = self.gate.take_refusal();

        // The transaction must still be there: OR ROLLBACK, ON CONFLICT ROLLBACK, RAISE(ROLLBACK), an interrupted write or
        // a full disk end it without asking anybody, and the next write would stand on its own.
        if self.connection.is_autocommit() {
            return Err(match result {
                Err(Stop::Sqlite(error)) => self.ended(error),
                _ => self.lose(Lost::Ended("the statement ended the transaction".into())),
            });
        }
        match result {
            Ok(value) => Ok(value),
            Err(Stop::Fault(fault)) => Err(fault),
            // The rows are written already, and what the plugin was told of them is not what happened.
            Err(Stop::TooMuch(reason)) => Err(self.lose(Lost::TooMuch(reason))),
            Err(Stop::Sqlite(error)) => Err(self.fault(error, refusal)),
        }
    }

    fn lose(&mut self, lost: Lost) -> SqlFault {
        self.lost = Some(lost.clone());
        SqlFault::Fatal(lost.error().into())
    }

    /// The error ended the transaction.
    fn ended(&mut self, error: rusqlite::Error) -> SqlFault {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => self.lose(Lost::OutOfTime),
            Some(code) if is_of_file(code) => self.file_failed(error),
            _ => self.lose(Lost::Ended(error.to_string())),
        }
    }

    /// The caller gets the failure itself; should it go on all the same, nothing is committed.
    fn file_failed(&mut self, error: rusqlite::Error) -> SqlFault {
        self.lost = Some(Lost::File(error.to_string()));
        SqlFault::Fatal(SqliteError::of(&self.path, error).into())
    }

    fn fault(&mut self, error: rusqlite::Error, refusal: Option<String>) -> SqlFault {
        if let Some(refusal) = refusal {
            return SqlFault::Denied(refusal);
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::AuthorizationForStatementDenied) => SqlFault::Denied(error.to_string()),
            Some(ErrorCode::ConstraintViolation) => SqlFault::Constraint(error.to_string()),
            Some(ErrorCode::OperationInterrupted) => out_of_time(),
            Some(ErrorCode::TooBig) => {
                SqlFault::Limit("a value, a row or the statement is too long".into())
            }
            Some(ErrorCode::OutOfMemory) => {
                SqlFault::Limit("the statement needs too much memory".into())
            }
            Some(code) if is_of_file(code) => self.file_failed(error),
            _ => match error {
                rusqlite::Error::MultipleStatement => {
                    SqlFault::Denied("one statement per call".into())
                }
                rusqlite::Error::SqlInputError { msg, .. } => SqlFault::Failed(msg),
                other => SqlFault::Failed(other.to_string()),
            },
        }
    }
}

/// Whether the file failed, and not the statement.
fn is_of_file(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::CannotOpen
            | ErrorCode::DiskFull
            | ErrorCode::DatabaseBusy
            | ErrorCode::FileLockingProtocolFailed
    )
}

/// What a query may still return.
struct Left {
    rows: u32,
    bytes: u64,
}

impl Left {
    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        let bytes = VALUE_OVERHEAD.saturating_add(bytes as u64);
        self.bytes = match self.bytes.checked_sub(bytes) {
            Some(left) => left,
            None => {
                self.bytes = 0;
                return Err(Stop::TooMuch(
                    "the queries of this call return too many bytes".into(),
                ));
            }
        };
        Ok(())
    }
}

/// Never from the statement cache: a statement that the host prepared was authorized for the host.
fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>, Stop> {
    if sql.contains('\0') {
        return Err(failed("the statement holds a NUL"));
    }
    let statement = connection.prepare(sql)?;
    if statement.is_explain() != 0 {
        return Err(Stop::Fault(SqlFault::Denied(
            "EXPLAIN may not be used".into(),
        )));
    }
    Ok(statement)
}

fn bind(statement: &mut Statement<'_>, parameters: &[SqlValue]) -> Result<(), Stop> {
    let expected = statement.parameter_count();
    if expected != parameters.len() {
        return Err(failed(format!(
            "the statement has {expected} parameters, {} were given",
            parameters.len()
        )));
    }
    for (index, value) in parameters.iter().enumerate() {
        let index = index + 1;
        match value {
            SqlValue::Null => statement.raw_bind_parameter(index, Null),
            SqlValue::Integer(value) => statement.raw_bind_parameter(index, value),
            SqlValue::Real(value) => statement.raw_bind_parameter(index, value),
            SqlValue::Text(value) => statement.raw_bind_parameter(index, value),
            SqlValue::Blob(value) => statement.raw_bind_parameter(index, value),
        }?;
    }
    Ok(())
}

fn collect(statement: &mut Statement<'_>, left: &mut Left) -> Result<RowSet, Stop> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    for column in &columns {
        left.spend(column.len())?;
    }
    let mut set = RowSet {
        columns,
        rows: Vec::new(),
    };
    let width = set.columns.len();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        left.rows = left
            .rows
            .checked_sub(1)
            .ok_or_else(|| Stop::TooMuch("the query returns too many rows".into()))?;
        let mut values = Vec::with_capacity(width);
        for index in 0..width {
            values.push(value(row.get_ref(index)?, left)?);
        }
        set.rows.push(values);
    }
    Ok(set)
}

fn value(value: ValueRef<'_>, left: &mut Left) -> Result<SqlValue, Stop> {
    Ok(match value {
        ValueRef::Null => {
            left.spend(0)?;
            SqlValue::Null
        }
        ValueRef::Integer(value) => {
            left.spend(0)?;
            SqlValue::Integer(value)
        }
        ValueRef::Real(value) => {
            left.spend(0)?;
            SqlValue::Real(value)
        }
        ValueRef::Text(bytes) => {
            left.spend(bytes.len())?;
            let text = String::from_utf8(bytes.to_vec())
                .map_err(|_| failed("a text in the result is not UTF-8"))?;
            SqlValue::Text(text)
        }
        ValueRef::Blob(bytes) => {
            left.spend(bytes.len())?;
            SqlValue::Blob(bytes.to_vec())
        }
    })
}

fn failed(message: impl Into<String>) -> Stop {
    Stop::Fault(SqlFault::Failed(message.into()))
}

fn out_of_time() -> SqlFault {
    SqlFault::Limit("the time for SQL in this call is used up".into())
}
