//! The files of tasks: evidence and outputs, in their folders of the workspace.
//!
//! Owns how they are compared and written. It never decides what they hold: every byte comes from the ledger or the
//! journal, which can give it again. Called by the core through [`Archive`]; whoever writes owns the task's lock.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    durable_file::{self, Action, FileError},
    durable_folder,
    workspace::Workspace,
};
use crate::{
    core::ports::archive::{Archive, Evidence, FileState, OutputFile},
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

/// The files of the tasks of one workspace.
#[derive(Debug, Clone)]
pub struct FileArchive {
    workspace: Workspace,
}

impl FileArchive {
    /// The files of a workspace.
    #[must_use]
    pub const fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn evidence_path(&self, task: &TaskId, evidence: &Evidence) -> Result<PathBuf, ArchiveError> {
        if Digest::of(&evidence.bytes) != evidence.id {
            return Err(ArchiveError::NotItsDigest { id: evidence.id });
        }
        let folder = self.workspace.evidence_folder(task);
        Ok(folder.join(format!("{}.json", evidence.id)))
    }

    fn output_path(&self, task: &TaskId, output: &OutputFile) -> Result<PathBuf, ArchiveError> {
        if is_plain_name(&output.name) {
            Ok(self.workspace.output_folder(task).join(&output.name))
        } else {
            Err(ArchiveError::OutputName {
                name: output.name.clone(),
            })
        }
    }

    /// Where each output goes and what stands there; no name twice, nothing foreign in the way.
    fn survey(
        &self,
        task: &TaskId,
        outputs: &[OutputFile],
    ) -> Result<Vec<(PathBuf, FileState)>, ArchiveError> {
        let mut surveyed: Vec<(PathBuf, FileState)> = Vec::new();
        for output in outputs {
            let path = self.output_path(task, output)?;
            if surveyed.iter().any(|(other, _)| *other == path) {
                return Err(ArchiveError::OutputName {
                    name: output.name.clone(),
                });
            }
            match durable_file::inspect(&path, &output.bytes)? {
                FileState::Other => return Err(ArchiveError::Conflict { path }),
                state => surveyed.push((path, state)),
            }
        }
        Ok(surveyed)
    }
}

impl Archive for FileArchive {
    fn inspect_evidence(&self, task: &TaskId, evidence: &Evidence) -> Result<FileState, Error> {
        let path = self.evidence_path(task, evidence)?;
        Ok(durable_file::inspect(&path, evidence.bytes.as_bytes())?)
    }

    fn keep_evidence(&self, task: &TaskId, evidence: &Evidence) -> Result<(), Error> {
        let path = self.evidence_path(task, evidence)?;
        match durable_file::inspect(&path, evidence.bytes.as_bytes())? {
            FileState::Whole => Ok(()),
            FileState::Other => Err(ArchiveError::Conflict { path }.into()),
            FileState::Absent | FileState::Torn => {
                make_folder(durable_folder::parent(&path))?;
                Ok(durable_file::export(&path, evidence.bytes.as_bytes())?)
            }
        }
    }

    fn evidence_files(&self, task: &TaskId) -> Result<Vec<String>, Error> {
        let mut names =
            durable_folder::names(&self.workspace.evidence_folder(task))?.unwrap_or_default();
        names.retain(|name| !durable_file::is_temporary(name));
        Ok(names)
    }

    fn inspect_output(&self, task: &TaskId, output: &OutputFile) -> Result<FileState, Error> {
        let path = self.output_path(task, output)?;
        Ok(durable_file::inspect(&path, &output.bytes)?)
    }

    fn publish(&self, task: &TaskId, outputs: &[OutputFile]) -> Result<(), Error> {
        let surveyed = self.survey(task, outputs)?;
        let folder = self.workspace.output_folder(task);
        make_folder(&folder)?;
        durable_folder::sync(durable_folder::parent(&folder))?;
        for (output, (path, state)) in outputs.iter().zip(surveyed) {
            match state {
                FileState::Whole => durable_file::settle(&path)?,
                _ => durable_file::write(&path, &output.bytes)?,
            }
        }
        Ok(())
    }
}

/// Why a file of a task cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Other bytes stand there.
    #[error("{} has other bytes than the journal says", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// An output's name is no plain file name, or stands twice in one publication.
    #[error("an output was to be published under the name {name:?}")]
    OutputName {
        /// The name.
        name: String,
    },
    /// Evidence whose id is not the digest of its bytes.
    #[error("evidence {id} does not have the digest in its id")]
    NotItsDigest {
        /// The id.
        id: Digest,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Fault for ArchiveError {
    fn facts(&self) -> Facts {
        match self {
            Self::Conflict { .. } => Facts::new(
                "file-conflict",
                Kind::Conflict,
                "find out who changed the file, move it away, then resume: it is written again",
            ),
            Self::OutputName { .. } => Facts::new(
                "output-name",
                Kind::Bug,
                "report it: names are to be checked before they come here",
            ),
            Self::NotItsDigest { .. } => Facts::new(
                "evidence-digest",
                Kind::Bug,
                "report it: evidence is to be hashed before it comes here",
            ),
            Self::File(error) => error.facts(),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Conflict { .. } => Some("somebody else wrote or changed it".into()),
            Self::File(error) => error.why(),
            _ => None,
        }
    }
}

/// 1 to 80 letters, digits, `.`, `_` or `-` of ASCII, no dot first.
fn is_plain_name(name: &str) -> bool {
    (1..=80).contains(&name.len())
        && !name.starts_with('.')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
}

/// Makes the folder of an export, in a task folder that stands.
fn make_folder(folder: &Path) -> Result<(), FileError> {
    match fs::create_dir(folder) {
        Err(_) if folder.is_dir() => Ok(()),
        other => other.map_err(|source| FileError::new(folder, Action::Create, source)),
    }
}
