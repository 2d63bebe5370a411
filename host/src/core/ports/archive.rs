//! The files of a task: evidence and outputs.

use crate::words::{digest::Digest, error::Error, id::TaskId};

/// The files of all tasks of one workspace.
pub trait Archive: Send + Sync {
    /// What stands under an evidence id, compared with what should.
    fn inspect_evidence(&self, task: &TaskId, evidence: &Evidence) -> Result<FileState, Error>;

    /// Writes evidence that is absent or torn; whole evidence is left alone; other bytes are an error of kind `conflict`.
    /// Evidence is an export: not durable when it returns, since ledger and journal can write it again.
    fn keep_evidence(&self, task: &TaskId, evidence: &Evidence) -> Result<(), Error>;

    /// The names of all files under `evidence/`, sorted.
    fn evidence_files(&self, task: &TaskId) -> Result<Vec<String>, Error>;

    /// What stands under an output's name, compared with what should.
    fn inspect_output(&self, task: &TaskId, output: &OutputFile) -> Result<FileState, Error>;

    /// Writes the outputs, each through a temporary file, a sync and a rename. The last one marks completeness: all others and
    /// the directory are synced before it is put in place, and the directory again after it.
    /// An output that stands already with the same bytes is left alone; with other bytes it is an error of kind `conflict`,
    /// found before anything is written. Durable when it returns, unless the operator chose otherwise.
    fn publish(&self, task: &TaskId, outputs: &[OutputFile]) -> Result<(), Error>;
}

/// The canonical JSON of one committed result, named by its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The SHA-256 of `bytes`.
    pub id: Digest,
    /// Canonical JSON.
    pub bytes: String,
}

/// One file of the output folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// A plain file name.
    pub name: String,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

/// A file beside what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Byte for byte what it should be.
    Whole,
    /// Not there.
    Absent,
    /// Empty, a prefix, or a prefix followed by NULs: what a lost write leaves. It may be written again.
    Torn,
    /// Anything else: somebody changed it.
    Other,
}
