//! The journal: the append-only record of every task.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::memories::Memories;
use crate::words::{digest::Digest, error::Error, id::TaskId};

/// The journals of all tasks of one workspace. A journal is a chain: each record's hash covers the one before it
/// (see `core::chain`, which owns the rule; a store keeps what it is given).
pub trait Journal: Send + Sync {
    /// All records of a task in order, as stored; empty for an unknown task. Visible, not necessarily durable.
    fn load(&self, task: &TaskId) -> Result<Vec<StoredRecord>, Error>;

    /// Appends records in one transaction. They must follow on what is stored without a gap; else nothing is written and the
    /// error is of kind `conflict`. Durable when it returns: these records and everything visible before them.
    fn append(&self, task: &TaskId, records: &[StoredRecord]) -> Result<(), Error>;

    /// As [`append`](Self::append), of records that tell what `work` did to the memory: both are one commit, or neither is there.
    /// An error of `work` undoes what it did. `work` changes this memory and journal by what it is lent alone: the write lock is
    /// held while it runs, once.
    fn append_with(&self, task: &TaskId, work: &mut MemoryWork<'_>) -> Result<(), Error>;

    /// Makes everything that is visible durable.
    fn settle(&self) -> Result<(), Error>;

    /// Fuel that the records of all tasks charge. Visible, not necessarily durable.
    fn burnt(&self) -> Result<u64, Error>;

    /// The ids of all tasks, in order of admission.
    fn tasks(&self) -> Result<Vec<TaskId>, Error>;
}

/// Changes the memory that it is lent, and yields the records that tell it.
pub type MemoryWork<'w> = dyn FnMut(&dyn Memories) -> Result<Vec<StoredRecord>, Error> + 'w;

/// One record, as it is stored and hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// From 1 upwards, without gaps.
    pub sequence: u64,
    /// The kind of event; also stands in the body, kept apart for outside readers.
    pub kind: String,
    /// When it was recorded.
    pub at: Timestamp,
    /// The event as JSON.
    pub body: String,
    /// The hash of the chain up to and with this record.
    pub hash: Digest,
}

/// A record's place in a chain and the chain's hash there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The record's sequence; 0 before the first.
    pub sequence: u64,
    /// The chain's hash there.
    pub head: Digest,
}
