//! Why a task's files cannot be written or read.

use std::path::PathBuf;

use super::super::{faults_file::FaultsError, file_error::FileError, policy_file::PolicyError};
use crate::{
    core::request::RequestError,
    words::{
        digest::Digest,
        error::{Facts, Fault, Kind},
        id::TaskId,
    },
};

/// Why a task's files cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// Another request stands under this id.
    #[error("the task changed: another request stands under the id {task}")]
    TaskChanged {
        /// The task.
        task: TaskId,
    },
    /// The component handed in is not the one that the request names.
    #[error("the request names another component than the one handed in")]
    OtherComponent {
        /// The digest in the request.
        named: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
    /// The lock handed in is another task's.
    #[error("the files of task {task} were to be written by somebody who does not own it")]
    NotOwned {
        /// The task.
        task: TaskId,
    },
    /// The stored request is not what was written.
    #[error("the request at {} is damaged", path.display())]
    RequestDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it; none: it is not text, or another task's.
        source: Option<RequestError>,
    },
    /// The task is one of the other pattern.
    #[error("the task {task} belongs to the other pattern")]
    OtherPattern {
        /// The task.
        task: TaskId,
    },
    /// A pinned component is gone.
    #[error("the pinned component {} is missing", path.display())]
    ComponentMissing {
        /// The file.
        path: PathBuf,
    },
    /// A pinned component is not what was written.
    #[error("the pinned component {} does not have the digest in its name", path.display())]
    ComponentChanged {
        /// The file.
        path: PathBuf,
    },
    /// The policy that stands there is not for this request.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The faults cannot be read.
    #[error(transparent)]
    Faults(#[from] FaultsError),
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Fault for AdmissionError {
    fn facts(&self) -> Facts {
        let (code, kind, hint) = match self {
            Self::TaskChanged { .. } => (
                "task-changed",
                Kind::Conflict,
                "give the new request another id, or run it with the request that stands there",
            ),
            Self::OtherComponent { .. } => (
                "component-mismatch",
                Kind::InvalidInput,
                "hand in the component that the request names, or correct the request's digest",
            ),
            Self::NotOwned { .. } => (
                "task-not-owned",
                Kind::Bug,
                "report it, with the command that led here",
            ),
            Self::RequestDamaged { .. } => (
                "request-damaged",
                Kind::Corrupt,
                "restore the file as it was, or use another directory",
            ),
            Self::OtherPattern { .. } => (
                "other-pattern",
                Kind::Conflict,
                "plan-execute and agents keep their tasks apart: give the new task another id; `wharf resume` goes on with either",
            ),
            Self::ComponentMissing { .. } => (
                "component-missing",
                Kind::Corrupt,
                "put the component with that digest back, then resume",
            ),
            Self::ComponentChanged { .. } => (
                "component-changed",
                Kind::Corrupt,
                "put the component with that digest back, then resume",
            ),
            Self::Policy(error) => return error.facts(),
            Self::Faults(error) => return error.facts(),
            Self::File(error) => return error.facts(),
        };
        Facts::new(code, kind, hint)
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::OtherComponent { named, found } => {
                Some(format!("it names {named}, the bytes have {found}"))
            }
            Self::RequestDamaged { source: None, .. } => {
                Some("it is not text, or the request of another task".into())
            }
            Self::Policy(error) => error.why(),
            Self::Faults(error) => error.why(),
            Self::File(error) => error.why(),
            _ => None,
        }
    }
}
