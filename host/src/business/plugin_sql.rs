//! A plugin's hand on the open transaction: one statement at a time, confined and bounded, until the call ends.
//!
//! Owns the connection for the duration of one call, and gives it back when the call is over; whoever still holds the
//! handle then is refused. Never commits, never rolls back. Used by `transaction` (writes) and `store` (reads).
//!
//! Statements are kept prepared between calls, under a key that no text of the host and no other plugin has: a statement
//! stays authorized for whom it was prepared for. They are dropped whenever the schema has changed.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::{
    CachedStatement, Connection, ErrorCode, StatementStatus, limits::Limit, types::Null,
};

use super::{
    BusinessError, SqlLimits, bytecode,
    confinement::{Gate, May, Phase, Rules, TOO_LARGE, monotonic, narrow, widen},
    denials::{Caller, Denials},
    quota::Full,
    returned::{Left, collect},
    statements::{self, Kind},
};
use crate::{
    core::ports::business::{RowSet, Sql, SqlFault, SqlValue},
    sqlite::error::SqliteError,
};

/// Bytes of one statement's text.
const STATEMENT_BYTES: i32 = 64 * 1024;
/// Instructions of one statement's program. SQLite doubles its room for them, and this is between two of the doublings.
const INSTRUCTIONS: i32 = 25_000;
/// Bytes that a prepared statement may take to be kept for the next time: what a plugin can have SQLite keep is bounded by
/// this and by the number of statements that a connection keeps.
const KEPT_STATEMENT_BYTES: i32 = 64 * 1024;

/// The [`Sql`] of one call.
pub(super) struct PluginSql {
    session: Mutex<Option<Session>>,
    denials: Mutex<Denials>,
}

/// What a call may do and for how long.
pub(super) struct Terms {
    /// For whom.
    pub(super) caller: Caller,
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
    opens: Opens,
    restricted: Restricted,
    path: PathBuf,
    /// What the plugin's statements are kept under, before their text.
    key: Key,
    size_limit: u64,
    rows_per_query: u32,
    bytes_left: u64,
    time_left: Duration,
    until: Option<Instant>,
    lost: Option<Lost>,
}

/// What a new statement is held against before it runs.
struct Opens {
    gate: Arc<Gate>,
    rules: Rules,
    /// When its time is over.
    until: Instant,
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
    /// The database may not grow.
    Full(Full),
}

impl Lost {
    fn error(self) -> BusinessError {
        match self {
            Self::Ended(reason) => BusinessError::TransactionLost { reason },
            Self::OutOfTime => BusinessError::OutOfTime,
            Self::TooMuch(reason) => BusinessError::ReturnedTooMuch { reason },
            Self::File(reason) => BusinessError::FileFailed { reason },
            Self::Full(full) => full.into(),
        }
    }
}

/// Why a statement did not end well.
pub(super) enum Stop {
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
    narrow(
        connection,
        limits.value_bytes.get(),
        STATEMENT_BYTES,
        INSTRUCTIONS,
    )
    .map(Restricted)
}

impl PluginSql {
    /// Takes the connection, inside its transaction and narrowed by [`restrict`], into the plugin's phase.
    pub(super) fn open(
        connection: Connection,
        restricted: Restricted,
        gate: &Arc<Gate>,
        terms: Terms,
    ) -> Arc<Self> {
        if gate.has_another_schema(terms.rules.version) {
            connection.flush_prepared_statement_cache();
        }
        let key = Key::of(&terms.caller, terms.rules.may);
        let opens = Opens {
            gate: Arc::clone(gate),
            rules: terms.rules.clone(),
            until: monotonic(),
        };
        gate.limit_values(terms.limits.value_bytes.get());
        gate.enter(Phase::Plugin(terms.rules));
        let path = PathBuf::from(connection.path().unwrap_or_default());
        Arc::new(Self {
            denials: Mutex::new(Denials::of(terms.caller)),
            session: Mutex::new(Some(Session {
                connection,
                gate: Arc::clone(gate),
                opens,
                restricted,
                path,
                key,
                size_limit: terms.limits.workspace_bytes.get(),
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
        self.denials().end();
        Some(Returned {
            connection: session.connection,
            lost: session.lost.map(Lost::error),
        })
    }

    fn with<R>(
        &self,
        sql: &str,
        run: impl FnOnce(&mut Session) -> Result<R, SqlFault>,
    ) -> Result<R, SqlFault> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match session.as_mut() {
            // The first time it is lost, it was told.
            Some(session) if session.lost.is_some() => return run(session),
            Some(session) => run(session),
            None => Err(SqlFault::Denied("the transaction is closed".into())),
        };
        if let Err(fault) = &result {
            self.denials().tell(fault, sql);
        }
        result
    }

    fn denials(&self) -> MutexGuard<'_, Denials> {
        self.denials.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.with(sql, |session| session.query(sql, parameters))
    }

    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SqlFault> {
        self.with(sql, |session| session.execute(sql, parameters))
    }
}

impl Session {
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<RowSet, SqlFault> {
        let mut left = Left {
            rows: self.rows_per_query,
            bytes: self.bytes_left,
        };
        let result = self.timed(|connection, key, opens| {
            let statement = prepare(connection, key, opens, sql)?;
            if statement.column_count() == 0 {
                statement.discard();
                return Err(failed("the statement returns no rows: use execute"));
            }
            let mut statement = bind(statement, parameters)?;
            let result = collect(&mut statement, &mut left).map_err(|stop| match stop {
                Stop::TooMuch(reason) if statement.readonly() => {
                    Stop::Fault(SqlFault::Limit(reason))
                }
                other => other,
            });
            keep(statement);
            result
        });
        self.bytes_left = left.bytes;
        result
    }

    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SqlFault> {
        self.timed(|connection, key, opens| {
            let statement = prepare(connection, key, opens, sql)?;
            if statement.column_count() != 0 {
                statement.discard();
                return Err(failed("the statement returns rows: use query"));
            }
            let mut statement = bind(statement, parameters)?;
            let changed = statement.raw_execute();
            keep(statement);
            Ok(changed? as u64)
        })
    }

    /// Runs one statement within the time that is left, and looks at what it left behind.
    fn timed<R>(
        &mut self,
        run: impl FnOnce(&Connection, &mut Key, &Opens) -> Result<R, Stop>,
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
        self.opens.until = end;
        let result = run(&self.connection, &mut self.key, &self.opens);
        self.time_left = self
            .time_left
            .saturating_sub(monotonic().saturating_duration_since(begun));

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
            Err(Stop::Sqlite(error)) => Err(self.fault(error)),
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
        if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
            // Nothing of the plugin runs any more: the transaction is lost.
            self.gate.enter(Phase::Host);
            if let Some(full) = Full::of(&self.connection, &self.path, self.size_limit) {
                return self.lose(Lost::Full(full));
            }
        }
        self.lost = Some(Lost::File(error.to_string()));
        SqlFault::Fatal(SqliteError::of(&self.path, error).into())
    }

    fn fault(&mut self, error: rusqlite::Error) -> SqlFault {
        // A statement of which something was refused never ends well.
        if let Some(refusal) = self.gate.take_refusal() {
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
                rusqlite::Error::SqlInputError { msg, .. }
                | rusqlite::Error::SqliteFailure(_, Some(msg))
                    if is_refusal(&msg) =>
                {
                    SqlFault::Denied(msg)
                }
                rusqlite::Error::SqlInputError { msg, .. }
                | rusqlite::Error::SqliteFailure(_, Some(msg))
                    if is_bound(&msg) =>
                {
                    SqlFault::Limit(format!("the statement is too large or too deep: {msg}"))
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

/// What the refusal of a statement says that neither reads nor changes rows.
const OTHER_KIND: &str = "the statement is of a kind that may not be used here";

/// Whether SQLite refuses, without having asked the authorizer, what exists but is out of reach.
fn is_refusal(message: &str) -> bool {
    message.ends_with("may not be modified")
        || [
            "unsafe use of",
            "no such collation sequence",
            "RAISE() may only be used",
        ]
        .iter()
        .any(|refusal| message.starts_with(refusal))
}

/// Whether SQLite says that one of its own limits is reached.
fn is_bound(message: &str) -> bool {
    let deep = message.ends_with("nested too deep");
    deep || [
        "too many ",
        "at most ",
        "variable number must be",
        "Expression tree is too large",
        "LIKE or GLOB pattern too complex",
        "parser stack overflow",
        // Of the parser's own depth.
        "Recursion limit",
    ]
    .iter()
    .any(|bound| message.starts_with(bound))
}

/// What statements are kept under: a plugin's and a verb's own prefix, and the text. No text of the host begins with a comment,
/// and a plugin's name cannot end one.
struct Key {
    prefix: usize,
    whole: String,
}

impl Key {
    fn of(caller: &Caller, may: May) -> Self {
        let whole = format!("/*{} {may:?}*/", caller.plugin);
        Self {
            prefix: whole.len(),
            whole,
        }
    }

    fn with(&mut self, sql: &str) -> &str {
        self.whole.truncate(self.prefix);
        self.whole.push_str(sql);
        &self.whole
    }
}

/// From the connection's statements under the plugin's own key: one that the host prepared was authorized for the host.
fn prepare<'c>(
    connection: &'c Connection,
    key: &mut Key,
    opens: &Opens,
    sql: &str,
) -> Result<CachedStatement<'c>, Stop> {
    if sql.contains('\0') {
        return Err(failed("the statement holds a NUL"));
    }
    let prepared = connection.prepare_cached(key.with(sql));
    // One that ran was looked at.
    if prepared.as_ref().is_ok_and(|kept| runs(kept) > 0) {
        return Ok(prepared?);
    }
    // In the database itself, what a statement is refused first, and whether it is refused or wrong, may depend on what is
    // not the plugin's. It is told only where that can make no difference.
    let kind = statements::kind(sql);
    if let Some(stop) = opens.alone(connection, kind, sql) {
        opens.gate.take_refusal();
        prepared.map(CachedStatement::discard).ok();
        return Err(stop);
    }
    let statement = match prepared {
        Err(error)
            if kind == Kind::Rows
                && !opens.gate.has_refused()
                && error.sqlite_error_code() == Some(ErrorCode::Unknown) =>
        {
            return Err(denied(
                "the statement is about what is not the plugin's own",
            ));
        }
        prepared => prepared?,
    };
    let refusal = match kind {
        Kind::Rows => bytecode::refusal(connection, &opens.gate, sql, &opens.rules.own.pages),
        // Nothing to do, and so nothing that the authorizer would be asked about.
        Kind::Other | Kind::None => Ok(Some(OTHER_KIND.into())),
    };
    let stop = match refusal {
        Ok(None) => return Ok(statement),
        Ok(Some(refusal)) => denied(refusal),
        Err(error) => error.into(),
    };
    statement.discard();
    Err(stop)
}

impl Opens {
    /// Why a statement may not run, or what is wrong with it, as if there were nothing but what is the plugin's.
    fn alone(&self, connection: &Connection, kind: Kind, sql: &str) -> Option<Stop> {
        let schema = &self.rules.own.schema;
        let refusal = match kind {
            Kind::Rows => match statements::refusal(sql) {
                None => schema.refusal(sql, &self.rules, connection, self.until),
                refusal => Ok(refusal),
            },
            // Whatever is wrong with it besides.
            Kind::Other => {
                let rules = Rules {
                    objects: Arc::default(),
                    ..self.rules.clone()
                };
                let refusal = schema.refusal(sql, &rules, connection, self.until);
                Ok(refusal.ok().flatten().or(Some(OTHER_KIND.into())))
            }
            Kind::None => Ok(None),
        };
        match refusal {
            Ok(None) => None,
            Ok(Some(refusal)) => Some(denied(refusal)),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OutOfMemory) => {
                Some(Stop::Fault(SqlFault::Limit(TOO_LARGE.into())))
            }
            Err(error) => Some(error.into()),
        }
    }
}

/// How often a statement was run since it was prepared.
fn runs(statement: &CachedStatement<'_>) -> i32 {
    statement.get_status(StatementStatus::Run)
}

/// For the next time, unless it is too large.
fn keep(statement: CachedStatement<'_>) {
    // To add its memory up takes as long as a short statement, and need not be done again.
    if runs(&statement) <= 1
        && statement.get_status(StatementStatus::MemUsed) > KEPT_STATEMENT_BYTES
    {
        statement.discard();
    }
}

/// Yields the statement only with all of its parameters: one that never runs is not kept.
fn bind<'c>(
    mut statement: CachedStatement<'c>,
    parameters: &[SqlValue],
) -> Result<CachedStatement<'c>, Stop> {
    match bind_all(&mut statement, parameters) {
        Ok(()) => Ok(statement),
        Err(stop) => {
            statement.discard();
            Err(stop)
        }
    }
}

fn bind_all(statement: &mut CachedStatement<'_>, parameters: &[SqlValue]) -> Result<(), Stop> {
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

pub(super) fn failed(message: impl Into<String>) -> Stop {
    Stop::Fault(SqlFault::Failed(message.into()))
}

fn denied(reason: impl Into<String>) -> Stop {
    Stop::Fault(SqlFault::Denied(reason.into()))
}

fn out_of_time() -> SqlFault {
    SqlFault::Limit("the time for SQL in this call is used up".into())
}
