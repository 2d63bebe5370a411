//! What must be durable before a task counts as admitted: its request, its policy and its component.
//!
//! Owns writing them, and reading back the two that never change. It never touches a task that was admitted: whether one
//! was, the journal knows, and its caller, the host's wiring, asks there first; [`Admission::write`] may only be called
//! while it was not. Everything it writes is put in place whole, in this order: component, request, policy, faults; so a
//! killed preparation leaves a beginning of that list (after a power loss any part of it), and the same call goes on.

mod component;
mod error;
mod request_files;
#[cfg(test)]
mod tests;

pub use self::{
    component::{Component, KeptComponents, MAX_COMPONENT_BYTES, stored_component},
    error::AdmissionError,
    request_files::{RequestFiles, stored, stored_request},
};
use super::{
    durable_file, durable_folder, faults_file::Faults, task_lock::TaskLock, workspace::Workspace,
};
use crate::{core::request::Request, words::id::PrincipalId};

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

impl Admission<'_> {
    /// Writes the files of a task that was not admitted yet, in a workspace that was created. What stands already and is
    /// right is not written again, only made durable; a policy beside the same request stays as it is, so that a narrower
    /// one is not widened. Durable when it returns, folders included: the admitted record may follow.
    ///
    /// # Errors
    /// [`AdmissionError::TaskChanged`] if another request stands there, before anything is written; component bytes of
    /// another digest; a file that stands there and is not what this module writes; [`AdmissionError::File`].
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
        let found = self.component.digest();
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

fn sync_folders(workspace: &Workspace, owner: &TaskLock) -> Result<(), AdmissionError> {
    durable_folder::sync(owner.folder())?;
    durable_folder::sync(&workspace.tasks_folder())?;
    Ok(())
}
