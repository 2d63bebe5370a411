//! The Model Context Protocol: translates calls of a client into calls of the library, and their answers into results.
//!
//! Owns the protocol, over standard input and output or over HTTP on this machine. Decides nothing about tasks, plans or
//! memories, reads no environment and prints nothing: `cli/mcp.rs` hands in what was typed. Whoever reaches it acts for the
//! workspace's tenant.

mod http;
mod stdio;

mod components;
mod edge;
mod error;
mod host_calls;
mod progress;
mod result;
mod runs;
mod sessions;
mod task_calls;
mod task_tools;

pub(crate) use self::{
    components::Components,
    edge::Edge,
    http::{PATH, serve_http},
    stdio::serve_stdio,
};

/// The most bytes that one message may have: 4 MiB.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
