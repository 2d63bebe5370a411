//! What must be durable before a task counts as admitted: its request, its policy and its component.
//!
//! Owns writing them, and reading back the two that never change. It never touches a task that was admitted: whether one
//! was, the journal knows, and its caller, the host's wiring, asks there first; [`Admission::write`] may only be called
//! while it was not. Everything it writes is put in place whole, in this order: component, request, policy, faults; so a
//! killed preparation leaves a beginning of that list (after a power loss any part of it), and the same call goes on.

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use super::{
    durable_file, durable_folder,
    faults_file::{Faults, FaultsError},
    file_error::FileError,
    policy_file::{Policy, PolicyError},
    task_lock::TaskLock,
    workspace::Workspace,
};
use crate::{
    core::{
        ports::{archive::FileState, permission::Acting},
        request::{REQUEST_BOUNDS, Request, RequestError},
        task_request::TaskRequest,
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
    /// The component that the request names by digest.
    pub component: Component<'a>,
    /// Who may act; usually the request's principal alone.
    pub principals: &'a [PrincipalId],
    /// What is to go wrong, if anything.
    pub faults: Option<&'a Faults>,
}

/// The bytes of a component and the digest of these very bytes, which takes a while to compute.
#[derive(Debug, Clone, Copy)]
pub struct Component<'a> {
    bytes: &'a [u8],
    digest: Digest,
}

/// The components that this process has made durable in one workspace. What was durable once stays so: it is compared again
/// for every task, but synced once.
#[derive(Debug, Default)]
pub struct KeptComponents(Mutex<HashSet<Digest>>);

impl<'a> Component<'a> {
    /// Computes the digest.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            digest: Digest::of(bytes),
        }
    }

    /// The digest.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Keeps the component in a workspace, under its digest. Durable when it returns.
    ///
    /// # Errors
    /// [`AdmissionError::ComponentChanged`] if something else stands there; [`FileError`].
    pub fn keep(&self, workspace: &Workspace, kept: &KeptComponents) -> Result<(), AdmissionError> {
        let path = workspace.component_file(&self.digest);
        match durable_file::inspect(&path, self.bytes)? {
            FileState::Whole if kept.has(&self.digest) => return Ok(()),
            FileState::Whole => durable_file::settle(&path)?,
            FileState::Absent | FileState::Torn => durable_file::place(&path, self.bytes)?,
            FileState::Other => return Err(AdmissionError::ComponentChanged { path }),
        }
        durable_folder::sync(&workspace.plugins_folder())?;
        kept.add(self.digest);
        Ok(())
    }
}

impl Admission<'_> {
    /// Writes the files of a task that was not admitted yet, in a workspace that was created. What stands already and is
    /// right is not written again, only made durable; a policy beside the same request stays as it is, so that a narrower
    /// one is not widened. Durable when it returns, folders included: the admitted record may follow.
    ///
    /// # Errors
    /// [`AdmissionError::TaskChanged`] if another request stands there, before anything is written; component bytes of
    /// another digest; a file that stands there and is not what this module writes; [`FileError`].
    pub fn write(
        &self,
        workspace: &Workspace,
        owner: &TaskLock,
        kept: &KeptComponents,
    ) -> Result<(), AdmissionError> {
        let files = RequestFiles {
            acting: self.request.acting(),
            text: self.request.text(),
            principals: self.principals,
        };
        let found = self.component.digest;
        if found != self.request.plugin.digest {
            return Err(AdmissionError::OtherComponent {
                named: self.request.plugin.digest,
                found,
            });
        }
        let stands = files.stand(workspace, owner)?;
        workspace.sweep(owner)?;
        self.component.keep(workspace, kept)?;
        files.write(workspace, stands)?;
        self.keep_faults(workspace)?;
        sync_folders(workspace, owner)
    }

    /// Also takes away the faults that a killed preparation with other wishes left.
    fn keep_faults(&self, workspace: &Workspace) -> Result<(), AdmissionError> {
        let path = workspace.faults_file(&self.request.id);
        match self.faults {
            None => durable_file::remove(&path)?,
            Some(faults) => durable_file::place(&path, &faults.to_bytes())?,
        }
        Ok(())
    }
}

/// The request and the policy of a task of either pattern.
#[derive(Debug, Clone, Copy)]
pub struct RequestFiles<'a> {
    /// Task, principal and fingerprint.
    pub acting: Acting<'a>,
    /// The request's text.
    pub text: &'a str,
    /// Who may act.
    pub principals: &'a [PrincipalId],
}

impl RequestFiles<'_> {
    /// Writes the files of an agent's task that was not admitted yet, as [`Admission::write`] does.
    ///
    /// # Errors
    /// As there.
    pub fn admit(&self, workspace: &Workspace, owner: &TaskLock) -> Result<(), AdmissionError> {
        let stands = self.stand(workspace, owner)?;
        workspace.sweep(owner)?;
        self.write(workspace, stands)?;
        sync_folders(workspace, owner)
    }

    /// Whether this very request stands there already.
    fn stand(&self, workspace: &Workspace, owner: &TaskLock) -> Result<bool, AdmissionError> {
        let task = self.acting.task;
        if owner.folder() != workspace.task_folder(task) {
            return Err(AdmissionError::NotOwned { task: task.clone() });
        }
        match stored(workspace, task)? {
            Some(stored) if stored.acting().fingerprint != self.acting.fingerprint => {
                Err(AdmissionError::TaskChanged { task: task.clone() })
            }
            stored => Ok(stored.is_some()),
        }
    }

    fn write(&self, workspace: &Workspace, stands: bool) -> Result<(), AdmissionError> {
        let request_file = workspace.request_file(self.acting.task);
        if stands {
            durable_file::settle(&request_file)?;
            self.keep_policy(workspace)
        } else {
            // A policy without a request is what a killed preparation of another request left.
            durable_file::place(&request_file, self.text.as_bytes())?;
            self.write_policy(workspace)
        }
    }

    fn keep_policy(&self, workspace: &Workspace) -> Result<(), AdmissionError> {
        let path = workspace.policy_file(self.acting.task);
        match Policy::read(&path) {
            Ok(policy) if policy.fingerprint == self.acting.fingerprint => {
                Ok(durable_file::settle(&path)?)
            }
            Ok(_) => Err(PolicyError::OtherRequest {
                task: self.acting.task.clone(),
            }
            .into()),
            Err(PolicyError::Missing { .. }) => self.write_policy(workspace),
            Err(error) => Err(error.into()),
        }
    }

    fn write_policy(&self, workspace: &Workspace) -> Result<(), AdmissionError> {
        let policy = Policy {
            fingerprint: self.acting.fingerprint,
            enabled: true,
            principals: self.principals.to_vec(),
        };
        let path = workspace.policy_file(self.acting.task);
        Ok(durable_file::place(&path, &policy.to_bytes())?)
    }
}

fn sync_folders(workspace: &Workspace, owner: &TaskLock) -> Result<(), AdmissionError> {
    durable_folder::sync(owner.folder())?;
    durable_folder::sync(&workspace.tasks_folder())?;
    Ok(())
}

impl KeptComponents {
    fn has(&self, digest: &Digest) -> bool {
        self.lock().contains(digest)
    }

    fn add(&self, digest: Digest) {
        self.lock().insert(digest);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<Digest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The request of a task as it was written at admission; none: there is no such file.
///
/// # Errors
/// [`AdmissionError::RequestDamaged`] if it is not a request, or another task's; [`FileError`].
pub fn stored(workspace: &Workspace, task: &TaskId) -> Result<Option<TaskRequest>, AdmissionError> {
    let path = workspace.request_file(task);
    let Some(bytes) = durable_file::read(&path, REQUEST_BOUNDS.bytes)? else {
        return Ok(None);
    };
    let damaged = |source| AdmissionError::RequestDamaged {
        path: path.clone(),
        source,
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged(None))?;
    let request = TaskRequest::read(&text).map_err(|error| damaged(Some(error)))?;
    if request.acting().task == task {
        Ok(Some(request))
    } else {
        Err(damaged(None))
    }
}

/// As [`stored`], of a task of plan-execute.
///
/// # Errors
/// As there; [`AdmissionError::OtherPattern`].
pub fn stored_request(
    workspace: &Workspace,
    task: &TaskId,
) -> Result<Option<Request>, AdmissionError> {
    match stored(workspace, task)? {
        Some(TaskRequest::PlanExecute(request)) => Ok(Some(*request)),
        Some(TaskRequest::Agent(_)) => Err(AdmissionError::OtherPattern { task: task.clone() }),
        None => Ok(None),
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{
        super::fixtures::{COMPONENT, assert_error, request, workspace},
        *,
    };
    use crate::core::contract::OperationKey;

    fn faults() -> Faults {
        Faults {
            lose_response_of: OperationKey::new("op".into()).unwrap(),
        }
    }

    fn admit(
        workspace: &Workspace,
        request: &Request,
        faults: Option<&Faults>,
    ) -> Result<(), AdmissionError> {
        let owner = workspace.claim(&request.id).unwrap();
        Admission {
            request,
            component: Component::of(COMPONENT),
            principals: std::slice::from_ref(&request.principal),
            faults,
        }
        .write(workspace, &owner, &KeptComponents::default())
    }

    #[test]
    fn everything_stands_as_handed_in() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        admit(&workspace, &request, Some(&faults())).unwrap();
        let task = &request.id;
        assert_eq!(
            fs::read_to_string(workspace.request_file(task)).unwrap(),
            request.text()
        );
        let stored = stored_request(&workspace, task).unwrap().unwrap();
        assert_eq!(stored.fingerprint(), request.fingerprint());
        Policy::read(&workspace.policy_file(task))
            .unwrap()
            .allow(request.acting())
            .unwrap();
        assert_eq!(
            stored_component(&workspace, &request.plugin.digest).unwrap(),
            COMPONENT
        );
        assert_eq!(
            Faults::read(&workspace.faults_file(task)).unwrap(),
            Some(faults())
        );
        assert_eq!(workspace.tasks().unwrap(), std::slice::from_ref(task));
    }

    #[test]
    fn the_same_request_in_another_spelling_rewrites_nothing() {
        let (_folder, workspace) = workspace();
        let first = request("goal");
        admit(&workspace, &first, None).unwrap();
        let spaced = Request::read(&first.text().replace("\":", "\" : ")).unwrap();
        assert_ne!(spaced.text(), first.text());
        // An operator has switched it off meanwhile.
        let policy = workspace.policy_file(&first.id);
        let text = fs::read_to_string(&policy).unwrap();
        fs::write(&policy, text.replace("true", "false")).unwrap();
        admit(&workspace, &spaced, None).unwrap();
        assert_eq!(
            fs::read_to_string(workspace.request_file(&first.id)).unwrap(),
            first.text()
        );
        assert!(!Policy::read(&policy).unwrap().enabled);
    }

    #[test]
    fn another_request_under_the_same_id_is_refused_and_nothing_is_written() {
        let (_folder, workspace) = workspace();
        let first = request("goal");
        admit(&workspace, &first, None).unwrap();
        fs::remove_file(workspace.component_file(&first.plugin.digest)).unwrap();
        let error = admit(&workspace, &request("another goal"), Some(&faults())).unwrap_err();
        assert_error(error, "task-changed", Kind::Conflict);
        assert!(!workspace.component_file(&first.plugin.digest).exists());
        assert!(!workspace.faults_file(&first.id).exists());
        let stored = stored_request(&workspace, &first.id).unwrap().unwrap();
        assert_eq!(stored.text(), first.text());
    }

    #[test]
    fn a_component_that_the_request_does_not_name_is_refused() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        let owner = workspace.claim(&request.id).unwrap();
        let admission = Admission {
            request: &request,
            component: Component::of(b"another"),
            principals: &[],
            faults: None,
        };
        let error = admission
            .write(&workspace, &owner, &KeptComponents::default())
            .unwrap_err();
        assert_error(error, "component-mismatch", Kind::InvalidInput);
        assert!(workspace.tasks().unwrap().is_empty());
    }

    #[test]
    fn only_the_tasks_owner_may_write() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        let other = workspace.claim(&"t2".parse().unwrap()).unwrap();
        let admission = Admission {
            request: &request,
            component: Component::of(COMPONENT),
            principals: &[],
            faults: None,
        };
        let error = admission
            .write(&workspace, &other, &KeptComponents::default())
            .unwrap_err();
        assert_error(error, "task-not-owned", Kind::Bug);
    }

    /// A kill leaves a beginning of what is written, a power loss any part of it; each is started over to the same end.
    #[test]
    fn whatever_a_killed_preparation_left_the_same_call_completes_it() {
        let (folder, whole) = workspace();
        let request = request("goal");
        admit(&whole, &request, None).unwrap();
        let component = format!("plugins/{}.wasm", request.plugin.digest);
        let files = [
            &*component,
            "tasks/t1/request.json",
            "tasks/t1/policy.json",
            "tasks/t1/.lock",
        ];
        // Left by a preparation with faults, by killed writers, by the databases' owners.
        let extra = [
            ("tasks/t1/faults.json", r#"{"loseResponseOf":"op"}"#),
            ("tasks/t1/.wharf-1.tmp", "{\"id"),
            ("plugins/.wharf-2.tmp", "\0as"),
            ("business.sqlite", ""),
            ("business.sqlite-journal", ""),
        ];
        for left in 0_u32..1 << (files.len() + 1) {
            let root = folder.path().join(format!("left-{left}"));
            let put = |name: &str, bytes: &[u8]| {
                let path = root.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            };
            for (bit, name) in files.iter().enumerate() {
                if left & (1 << bit) != 0 {
                    put(name, &fs::read(whole.root().join(name)).unwrap());
                }
            }
            if left & (1 << files.len()) != 0 {
                extra
                    .iter()
                    .for_each(|(name, text)| put(name, text.as_bytes()));
            }
            let workspace = Workspace::create(&root).unwrap();
            admit(&workspace, &request, None).unwrap();
            for name in &files[..3] {
                assert_eq!(
                    fs::read(root.join(name)).unwrap(),
                    fs::read(whole.root().join(name)).unwrap(),
                    "{left:b}: {name}"
                );
            }
            assert_eq!(
                durable_folder::names(&root.join("tasks/t1"))
                    .unwrap()
                    .unwrap(),
                [".lock", "policy.json", "request.json"]
            );
        }
    }

    #[test]
    fn a_policy_left_without_a_request_is_written_anew() {
        let (_folder, workspace) = workspace();
        admit(&workspace, &request("goal"), None).unwrap();
        let changed = request("another goal");
        fs::remove_file(workspace.request_file(&changed.id)).unwrap();
        admit(&workspace, &changed, None).unwrap();
        let policy = Policy::read(&workspace.policy_file(&changed.id)).unwrap();
        policy.allow(changed.acting()).unwrap();
    }

    #[test]
    fn a_broken_or_foreign_policy_is_never_replaced() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        admit(&workspace, &request, None).unwrap();
        let path = workspace.policy_file(&request.id);
        let good = fs::read_to_string(&path).unwrap();
        let other = Digest::of("other").to_string();
        let foreign = good.replace(&request.fingerprint().to_string(), &other);
        for (text, code, kind) in [
            ("{", "policy-malformed", Kind::Corrupt),
            (&*foreign, "policy-other-request", Kind::Denied),
        ] {
            fs::write(&path, text).unwrap();
            assert_error(admit(&workspace, &request, None).unwrap_err(), code, kind);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_damaged_request_is_corrupt_and_stays() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        assert!(stored_request(&workspace, &request.id).unwrap().is_none());
        drop(workspace.claim(&request.id).unwrap());
        let path = workspace.request_file(&request.id);
        let of_another_task = request.text().replace("\"t1\"", "\"t2\"");
        for bad in [&b""[..], b"{", b"\xff", of_another_task.as_bytes()] {
            fs::write(&path, bad).unwrap();
            let error = stored_request(&workspace, &request.id).unwrap_err();
            assert_error(error, "request-damaged", Kind::Corrupt);
        }
        let error = admit(&workspace, &request, None).unwrap_err();
        assert_error(error, "request-damaged", Kind::Corrupt);
        assert_eq!(fs::read_to_string(&path).unwrap(), of_another_task);
        fs::write(&path, vec![b' '; REQUEST_BOUNDS.bytes + 1]).unwrap();
        let error = stored_request(&workspace, &request.id).unwrap_err();
        assert_error(error, "file-too-large", Kind::Limit);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = stored_request(&workspace, &request.id).unwrap_err();
        assert_error(error, "path-taken", Kind::Conflict);
    }

    #[test]
    fn a_changed_or_missing_component_is_found_and_a_torn_one_written_again() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        let digest = request.plugin.digest;
        let stored = || stored_component(&workspace, &digest);
        assert_error(stored().unwrap_err(), "component-missing", Kind::Corrupt);
        let path = workspace.component_file(&digest);
        fs::write(&path, &COMPONENT[..3]).unwrap();
        assert_error(stored().unwrap_err(), "component-changed", Kind::Corrupt);
        admit(&workspace, &request, None).unwrap();
        assert_eq!(stored().unwrap(), COMPONENT);
        fs::write(&path, b"swapped").unwrap();
        assert_error(stored().unwrap_err(), "component-changed", Kind::Corrupt);
        let error = admit(&workspace, &request, None).unwrap_err();
        assert_error(error, "component-changed", Kind::Corrupt);
        assert_eq!(fs::read(&path).unwrap(), b"swapped");
    }

    #[test]
    fn a_component_that_was_kept_before_is_still_compared() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        let owner = workspace.claim(&request.id).unwrap();
        let kept = KeptComponents::default();
        let admit = || {
            Admission {
                request: &request,
                component: Component::of(COMPONENT),
                principals: &[],
                faults: None,
            }
            .write(&workspace, &owner, &kept)
        };
        admit().unwrap();
        let path = workspace.component_file(&request.plugin.digest);
        fs::remove_file(&path).unwrap();
        admit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), COMPONENT);
        fs::write(&path, b"swapped").unwrap();
        assert_error(admit().unwrap_err(), "component-changed", Kind::Corrupt);
    }

    #[test]
    fn a_folder_that_went_away_is_told() {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        fs::remove_dir_all(workspace.plugins_folder()).unwrap();
        let error = admit(&workspace, &request, None).unwrap_err();
        assert_error(error, "folder-missing", Kind::Unavailable);
        fs::write(workspace.plugins_folder(), b"").unwrap();
        let error = admit(&workspace, &request, None).unwrap_err();
        assert_error(error, "path-taken", Kind::Conflict);
    }
}
