//! Where the components of plugins come from: what was handed in at the start, and what the workspace keeps.
//!
//! A client names a component by the digest in its request, never a file.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use wharf::{
    Digest, Error,
    technologies::{admission::stored_component, workspace::Workspace},
};

use super::error::McpError;

/// The components that requests may name.
#[derive(Debug)]
pub(crate) struct Components {
    handed_in: HashMap<Digest, Arc<[u8]>>,
    workspace: PathBuf,
}

impl Components {
    /// Those handed in, and those that tasks of the workspace have pinned.
    pub(crate) fn new(handed_in: impl IntoIterator<Item = Vec<u8>>, workspace: PathBuf) -> Self {
        let by_digest = |bytes: Vec<u8>| (Digest::of(&bytes), bytes.into());
        Self {
            handed_in: handed_in.into_iter().map(by_digest).collect(),
            workspace,
        }
    }

    /// The component with this digest.
    pub(super) fn find(&self, digest: &Digest) -> Result<Arc<[u8]>, Error> {
        if let Some(component) = self.handed_in.get(digest) {
            return Ok(Arc::clone(component));
        }
        // Without a workspace there is nothing in it; what else is wrong with one, the run will say.
        match Workspace::open(&self.workspace) {
            Ok(workspace) if workspace.component_file(digest).exists() => {
                Ok(stored_component(&workspace, digest)?.into())
            }
            _ => Err(McpError::UnknownComponent { digest: *digest }.into()),
        }
    }
}
