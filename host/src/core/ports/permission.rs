//! Who may do what.

use crate::{core::request::Request, words::error::Error};

/// A policy. `policy.json` is the built-in reference, not an identity provider.
pub trait Permission: Send + Sync {
    /// Whether the request's principal may call a tool now; asked before every tool call (none: before the run starts).
    /// Nothing is cached. A missing, unreadable or unknown policy is an error, never a yes.
    fn check(&self, request: &Request, tool: Option<&str>) -> Result<(), Error>;
}
