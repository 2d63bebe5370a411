//! Tools: what an agent, or a client over a protocol, may call by name.
//!
//! A tool is a descriptor and a body. The [`toolbox`] owns their names, checks what goes in and what comes out, and enforces
//! permission, time-out and concurrency; a body does the work. The tools over the memory are here, since the runtime brings
//! them; all others are the application's.

pub mod descriptor;
pub mod error;
pub mod tool;
pub mod toolbox;

pub mod calling;
pub mod memory_tools;
pub mod plans;

#[cfg(test)]
mod tests;

pub use self::{
    descriptor::{ToolDescriptor, ToolEffect, ToolPermission},
    error::{ToolError, ToolFault},
    tool::{Course, Intent, LedgerTool, MemoryTool, Tool, ToolBody, ToolCall},
    toolbox::{Toolbox, Verdict},
};
