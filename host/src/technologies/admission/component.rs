//! A component in a workspace, kept under its digest.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{
    super::{
        durable_file::{self, Stamp},
        durable_folder,
        workspace::Workspace,
    },
    error::AdmissionError,
};
use crate::{core::ports::archive::FileState, words::digest::Digest};

/// The most bytes a component may have: 256 MiB.
pub const MAX_COMPONENT_BYTES: usize = 256 * 1024 * 1024;

/// The bytes of a component and the digest of these very bytes, which takes a while to compute.
#[derive(Debug, Clone, Copy)]
pub struct Component<'a> {
    bytes: &'a [u8],
    digest: Digest,
}

/// The components that this process has found whole in one workspace and made durable. One is compared and synced again only where
/// its file has changed since. (A change within the same tick of the file system's
/// clock shows when a task is resumed: the bytes are hashed then.)
#[derive(Debug, Default)]
pub struct KeptComponents(Mutex<HashMap<Digest, Stamp>>);

impl<'a> Component<'a> {
    /// Computes the digest.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self::hashed(bytes, Digest::of(bytes))
    }

    /// Bytes whose digest was computed before.
    #[must_use]
    pub const fn hashed(bytes: &'a [u8], digest: Digest) -> Self {
        Self { bytes, digest }
    }

    /// The digest.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Keeps the component in a workspace, under its digest. Durable when it returns.
    ///
    /// # Errors
    /// [`AdmissionError::ComponentChanged`] if something else stands there; [`AdmissionError::File`].
    pub fn keep(&self, workspace: &Workspace, kept: &KeptComponents) -> Result<(), AdmissionError> {
        let path = workspace.component_file(&self.digest);
        // Before the look: what is changed after it has another stamp.
        let stamp = Stamp::of(&path)?;
        if stamp.is_some() && kept.lock().get(&self.digest) == stamp.as_ref() {
            return Ok(());
        }
        let state = durable_file::inspect(&path, self.bytes)?;
        match state {
            FileState::Whole => durable_file::settle(&path)?,
            FileState::Absent | FileState::Torn => durable_file::place(&path, self.bytes)?,
            FileState::Other => return Err(AdmissionError::ComponentChanged { path }),
        }
        durable_folder::sync(&workspace.plugins_folder())?;
        if let (FileState::Whole, Some(stamp)) = (state, stamp) {
            kept.lock().insert(self.digest, stamp);
        }
        Ok(())
    }
}

impl KeptComponents {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of a pinned component, hashed after they were read.
///
/// # Errors
/// [`AdmissionError::ComponentMissing`], [`AdmissionError::ComponentChanged`]; [`AdmissionError::File`].
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
