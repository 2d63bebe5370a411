//! The business database: the domain's tables, and beside them, out of the domain's reach, the ledger.

use std::sync::Arc;

use jiff::Timestamp;

use super::journal::Position;
use crate::{
    core::contract::{Effect, Failure, OperationKey, StepAnswer, Subject},
    words::{
        digest::Digest,
        error::Error,
        id::{PluginName, PrincipalId, TaskId},
        json::JsonText,
    },
};

/// The business database of one workspace.
///
/// "Barriered" below means: a sync of the database's log was begun after the fact was read, so that what was visible is also
/// durable.
pub trait Business: Send + Sync {
    /// Performs one keyed operation at most once, in one write transaction: refuses a subject that another input has
    /// touched, answers from the ledger where the key stands there already, else calls `step`, and on `Done` inserts the
    /// ledger row. Stores `operation.position` as the task's anchor in the same commit. Anything but a commit leaves the
    /// database untouched.
    /// Durable when it returns: the effect, its ledger row and the anchor of a `Done` that is not replayed. A replayed row of
    /// another task is barriered; other answers are durable only after [`Self::settle`].
    fn perform(&self, operation: &Operation, step: StepCall<'_>) -> Result<Performed, Error>;

    /// Runs a read of the plugin's own tables on a read-only connection. Nothing is written; what was read is durable only
    /// after [`Self::settle`]. For a keyless tool: checks the subject as `perform` does, where `read.subject` is given.
    fn read(
        &self,
        read: &Read,
        call: &mut dyn FnMut(Arc<dyn Sql>) -> Result<(), Error>,
    ) -> Result<ReadOutcome, Error>;

    /// The row that stands for an operation, whoever wrote it. Barriered.
    fn find(
        &self,
        plugin: &PluginName,
        subject: &Subject,
        key: &OperationKey,
    ) -> Result<Option<LedgerRow>, Error>;

    /// All rows that a task wrote, in order of their journal position. Not barriered.
    fn rows_of(&self, task: &TaskId) -> Result<Vec<LedgerRow>, Error>;

    /// Makes everything that was read from this database so far durable. Costs nothing where nobody has committed since the last
    /// sync of this process.
    fn settle(&self) -> Result<(), Error>;

    /// Stores the position of a durable journal record. Durable when it returns.
    fn anchor(&self, task: &TaskId, position: &Position) -> Result<(), Error>;

    /// The last anchor of a task. Not barriered.
    fn anchor_of(&self, task: &TaskId) -> Result<Option<Position>, Error>;
}

/// Called with the open transaction; its result decides between commit and rollback.
pub type StepCall<'a> =
    &'a mut dyn FnMut(Arc<dyn Sql>) -> Result<Result<StepAnswer, Failure>, Error>;

/// What identifies one keyed operation, and what its ledger row keeps.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The plugin's installed name.
    pub plugin: PluginName,
    /// What it is performed on.
    pub subject: Subject,
    /// Its semantic name.
    pub key: OperationKey,
    /// For which task.
    pub task: TaskId,
    /// Who asked for it.
    pub principal: PrincipalId,
    /// The fingerprint of the task's request.
    pub fingerprint: Digest,
    /// The digest of the request's canonical `input`.
    pub input_digest: Digest,
    /// The tool that performs it.
    pub tool: String,
    /// The digest of the step's canonical arguments; of `null` where there are none.
    pub arguments_digest: Digest,
    /// A keyed read may not change rows.
    pub effect: Effect,
    /// The journal record that intends it; durable before the call.
    pub position: Position,
    /// The time that its row will carry.
    pub at: Timestamp,
}

/// A read of a plugin's own tables.
#[derive(Debug, Clone)]
pub struct Read {
    /// The plugin's installed name.
    pub plugin: PluginName,
    /// Where given, the read is refused if another input has touched this subject.
    pub subject: Option<(Subject, Digest)>,
}

/// How a read ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The call ran.
    Read,
    /// The subject was touched under another input; the call did not run.
    SubjectConflict(SubjectConflict),
}

/// How a keyed operation ended.
#[derive(Debug, Clone)]
pub enum Performed {
    /// Its row stands in the ledger.
    Done {
        /// The row.
        row: Box<LedgerRow>,
        /// It stood there before this call.
        replayed: bool,
    },
    /// Rolled back: a regular refusal, with the plugin's record.
    Declined(JsonText),
    /// Rolled back.
    Failed(Failure),
    /// Not called: the subject belongs to another input.
    SubjectConflict(SubjectConflict),
}

/// A subject that was touched under another input, or a key that was performed with other arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectConflict {
    /// The task that touched it.
    pub task: TaskId,
    /// The key of the row that is in the way.
    pub key: OperationKey,
}

/// One row of `wharf_ledger`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// The plugin's installed name.
    pub plugin: PluginName,
    /// What it was performed on.
    pub subject: Subject,
    /// Its semantic name.
    pub key: OperationKey,
    /// The task that performed it.
    pub task: TaskId,
    /// Who asked for it.
    pub principal: PrincipalId,
    /// The fingerprint of that task's request.
    pub fingerprint: Digest,
    /// The digest of that request's canonical `input`.
    pub input_digest: Digest,
    /// The tool that performed it.
    pub tool: String,
    /// The digest of the step's canonical arguments.
    pub arguments_digest: Digest,
    /// The record, as the plugin wrote it.
    pub data: JsonText,
    /// The sequence of the journal record that intended it.
    pub sequence: u64,
    /// The time of that record.
    pub at: Timestamp,
}

/// What a plugin may do inside the host's open transaction. Confined: own tables only, deny by default, bounded.
pub trait Sql: Send + Sync {
    /// One statement that returns rows.
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<RowSet, SqlFault>;

    /// One statement that changes rows; yields how many.
    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SqlFault>;
}

/// A value of SQLite.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// A signed integer.
    Integer(i64),
    /// A double.
    Real(f64),
    /// UTF-8 text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// The rows of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowSet {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<SqlValue>>,
}

/// Why a statement did not run.
#[derive(Debug)]
pub enum SqlFault {
    /// Told to the plugin: outside what it may touch.
    Denied(String),
    /// Told to the plugin: a constraint of its tables.
    Constraint(String),
    /// Told to the plugin: a limit of rows, bytes or time.
    Limit(String),
    /// Told to the plugin: any other failure.
    Failed(String),
    /// Not told to the plugin: the transaction is lost; the call must trap with this error.
    Fatal(Error),
}
