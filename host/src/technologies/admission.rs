//! What must be durable before a task counts as admitted: its request, its policy and its component.
//!
//! Owns writing them, and reading back the two that never change. It never touches a task that was admitted: whether one
//! was, the journal knows, and its caller, the host's wiring, asks there first; [`Admission::write`] may only be called
//! while it was not. Everything it writes is put in place whole, in this order: component, request, policy, faults; so a
//! killed preparation leaves a beginning of that list, and the same call goes on from there.

use std::path::PathBuf;

use super::{
    durable_file::{self, FileError},
    durable_folder,
    faults_file::{Faults, FaultsError},
    policy_file::{Policy, PolicyError},
    task_lock::TaskLock,
    workspace::Workspace,
};
use crate::{
    core::{
        ports::archive::FileState,
        request::{REQUEST_BOUNDS, Request, RequestError},
    },
    words::{
        digest::Digest,
        error::{Facts, Fault, Kind},
        id::{PrincipalId, TaskId},
    },
};

/// The most bytes a component may have: 256 MiB.
pub const MAX_COMPONENT_BYTES: usize = 256 * 1024 * 1024;

/// Everything that the trusted side decides when it admits a task.
#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {
    /// The request.
    pub request: &'a Request,
    /// The bytes of the component that the request names by digest.
    pub component: &'a [u8],
    /// Who may act; usually the request's principal alone.
    pub principals: &'a [PrincipalId],
    /// What is to go wrong, if anything.
    pub faults: Option<&'a Faults>,
}

impl Admission<'_> {
    /// Writes the files of a task that was not admitted yet. What stands already and is right is not written again, only
    /// made durable; a policy that stands for this request stays as it is, so that a narrower one is not widened.
    /// Durable when it returns, folders included: the admitted record may follow.
    ///
    /// # Errors
    /// [`AdmissionError::TaskChanged`] if another request stands there, before anything is written; component bytes of
    /// another digest; a file that stands there and is not what this module writes; [`FileError`].
    pub fn write(&self, workspace: &Workspace, owner: &TaskLock) -> Result<(), AdmissionError> {
        let task = &self.request.id;
        if owner.folder() != workspace.task_folder(task) {
            return Err(AdmissionError::NotOwned { task: task.clone() });
        }
        let found = Digest::of(self.component);
        if found != self.request.plugin.digest {
            return Err(AdmissionError::OtherComponent {
                named: self.request.plugin.digest,
                found,
            });
        }
        let stands = match stored_request(workspace, task)? {
            Some(stored) if stored.fingerprint() != self.request.fingerprint() => {
                return Err(AdmissionError::TaskChanged { task: task.clone() });
            }
            stored => stored.is_some(),
        };
        workspace.sweep(owner)?;
        durable_folder::create(owner.folder())?;
        self.keep_component(workspace)?;
        let request_file = workspace.request_file(task);
        if stands {
            durable_file::settle(&request_file)?;
        } else {
            durable_file::write(&request_file, self.request.text().as_bytes())?;
        }
        self.keep_policy(workspace)?;
        self.keep_faults(workspace)
    }

    fn keep_component(&self, workspace: &Workspace) -> Result<(), AdmissionError> {
        durable_folder::create(&workspace.plugins_folder())?;
        let path = workspace.component_file(&self.request.plugin.digest);
        match durable_file::inspect(&path, self.component)? {
            FileState::Whole => Ok(durable_file::settle(&path)?),
            FileState::Absent | FileState::Torn => Ok(durable_file::write(&path, self.component)?),
            FileState::Other => Err(AdmissionError::ComponentChanged { path }),
        }
    }

    fn keep_policy(&self, workspace: &Workspace) -> Result<(), AdmissionError> {
        let path = workspace.policy_file(&self.request.id);
        match Policy::read(&path) {
            Ok(policy) if policy.fingerprint == self.request.fingerprint() => {
                Ok(durable_file::settle(&path)?)
            }
            Ok(_) => Err(PolicyError::OtherRequest {
                task: self.request.id.clone(),
            }
            .into()),
            Err(PolicyError::Missing { .. }) => {
                let policy = Policy {
                    fingerprint: self.request.fingerprint(),
                    enabled: true,
                    principals: self.principals.to_vec(),
                };
                Ok(durable_file::write(&path, &policy.to_bytes())?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Also takes away the faults that a killed preparation with other wishes left.
    fn keep_faults(&self, workspace: &Workspace) -> Result<(), AdmissionError> {
        let path = workspace.faults_file(&self.request.id);
        match self.faults {
            None => durable_file::remove(&path)?,
            Some(faults) => durable_file::write(&path, &faults.to_bytes())?,
        }
        Ok(())
    }
}

/// The request of a task as it was written at admission; none: there is no such file.
///
/// # Errors
/// [`AdmissionError::RequestDamaged`] if it is not a request, or another task's; [`FileError`].
pub fn stored_request(
    workspace: &Workspace,
    task: &TaskId,
) -> Result<Option<Request>, AdmissionError> {
    let path = workspace.request_file(task);
    let Some(bytes) = durable_file::read(&path, REQUEST_BOUNDS.bytes)? else {
        return Ok(None);
    };
    let damaged = |source| AdmissionError::RequestDamaged {
        path: path.clone(),
        source,
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged(None))?;
    let request = Request::read(&text).map_err(|error| damaged(Some(error)))?;
    if request.id == *task {
        Ok(Some(request))
    } else {
        Err(damaged(None))
    }
}

/// The bytes of a pinned component, hashed after they were read.
///
/// # Errors
/// [`AdmissionError::ComponentMissing`], [`AdmissionError::ComponentChanged`]; [`FileError`].
pub fn stored_component(workspace: &Workspace, digest: &Digest) -> Result<Vec<u8>, AdmissionError> {
    let path = workspace.component_file(digest);
    match durable_file::read(&path, MAX_COMPONENT_BYTES)? {
        None => Err(AdmissionError::ComponentMissing { path }),
        Some(bytes) if Digest::of(&bytes) != *digest => {
            Err(AdmissionError::ComponentChanged { path })
        }
        Some(bytes) => Ok(bytes),
    }
}

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
                "component-other",
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
