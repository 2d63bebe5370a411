//! The Context: a task's temporary working set. It may vanish at any moment without loss.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::words::{digest::Digest, error::Error};

/// A store of working sets. Nothing in it is durable, and nothing needs to be: a missing value is rebuilt from the
/// journal. Any failure to answer is an error of kind `unavailable` within 5 seconds, never an empty answer. A scope names
/// one working set of one workspace: the host puts the workspace's id first, so workspaces may share a store.
pub trait Context: Send + Sync {
    /// The value of a scope, unless it expired or was never stored.
    fn load<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Option<ContextValue>, Error>>;

    /// Stores a value for `ttl`, if the scope still holds the value built from `expected` (none: holds nothing).
    fn store<'a>(
        &'a self,
        scope: &'a str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Stored, Error>>;
}

/// A working set and the journal head it was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextValue {
    /// The head of the journal it was built from; under another head it counts as not found.
    pub head: Digest,
    /// The working set, as JSON.
    pub body: String,
}

/// Whether a value was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It was.
    Yes,
    /// Somebody else stored another value meanwhile; theirs stands.
    Lost,
}
