//! Who may do what.

use crate::words::{
    digest::Digest,
    error::Error,
    id::{PrincipalId, TaskId},
};

/// A policy. `policy.json` is the built-in reference, not an identity provider.
pub trait Permission: Send + Sync {
    /// Whether the task's principal may call a tool now; asked before every tool call (none: before the run starts).
    /// Nothing is cached. A missing, unreadable or unknown policy is an error, never a yes.
    fn check(&self, acting: Acting<'_>, tool: Option<&str>) -> Result<(), Error>;
}

/// Who acts, and on which request's behalf.
#[derive(Debug, Clone, Copy)]
pub struct Acting<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// Who asked for it.
    pub principal: &'a PrincipalId,
    /// The fingerprint of its request.
    pub fingerprint: Digest,
}
