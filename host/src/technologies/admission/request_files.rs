//! The request and the policy of a task of either pattern.

use super::{
    super::{
        durable_file,
        policy_file::{Policy, PolicyError},
        task_lock::TaskLock,
        workspace::Workspace,
    },
    error::AdmissionError,
    sync_folders,
};
use crate::{
    core::{
        ports::permission::Acting,
        request::{REQUEST_BOUNDS, Request},
        task_request::TaskRequest,
    },
    words::id::{PrincipalId, TaskId},
};

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
    /// Writes the files of an agent's task that was not admitted yet, as [`super::Admission::write`] does.
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
    pub(super) fn stand(
        &self,
        workspace: &Workspace,
        owner: &TaskLock,
    ) -> Result<bool, AdmissionError> {
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

    pub(super) fn write(&self, workspace: &Workspace, stands: bool) -> Result<(), AdmissionError> {
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

/// The request of a task as it was written at admission; none: there is no such file.
///
/// # Errors
/// [`AdmissionError::RequestDamaged`] if it is not a request, or another task's; [`AdmissionError::File`].
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
