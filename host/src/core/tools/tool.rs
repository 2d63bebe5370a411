//! What a tool does: one trait for each way in which its effect is kept safe from a crash.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ToolError, ToolFault};
use crate::{
    core::ports::{journal::Position, memories::Memories},
    words::id::{PrincipalId, TaskId},
};

/// One call, as a body sees it.
pub struct ToolCall<'a> {
    /// The arguments: an object that fits the tool's schema.
    pub arguments: &'a Value,
    /// Who calls: an agent's name, or that of a client.
    pub caller: &'a str,
    /// When.
    pub at: Timestamp,
    /// Tells whoever watches how far it is. Return quickly; nothing is kept.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// A tool of the application's own. A call that was under way when the process died is reported to the model as unknown, unless
/// the tool is marked idempotent.
pub trait Tool: Send + Sync {
    /// Does it. Dropping the future gives up; one that blocks its thread is neither interrupted nor timed.
    fn run<'a>(&'a self, call: &'a ToolCall<'a>) -> BoxFuture<'a, Result<Value, ToolError>>;
}

/// A tool over the memory. Within a task its effect and the record of its outcome are one commit.
pub trait MemoryTool: Send + Sync {
    /// Does it. Short: while it runs, nobody else writes to the workspace's memory.
    ///
    /// # Errors
    /// A refusal, after which nothing may have been changed; or a failure of the memory.
    fn run(&self, call: &ToolCall<'_>, memories: &dyn Memories) -> Result<Value, ToolFault>;
}

/// A tool whose effect stands in the ledger: a call that was under way is made again and answered from there.
pub trait LedgerTool: Send + Sync {
    /// Does it, within limits of its own.
    ///
    /// # Errors
    /// A refusal, after which nothing was changed; or a failure of the business database.
    fn run(&self, call: &ToolCall<'_>, intent: &Intent<'_>) -> Result<Value, ToolFault>;
}

/// The durable record that a call with a ledger row belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Intent<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// Who asked for it.
    pub principal: &'a PrincipalId,
    /// The record that intends it.
    pub position: Position,
    /// When it was intended.
    pub at: Timestamp,
}

/// A tool's body.
#[derive(Clone)]
pub enum ToolBody {
    /// The application's own.
    Native(Arc<dyn Tool>),
    /// Over the memory.
    Memory(Arc<dyn MemoryTool>),
    /// Over the ledger.
    Ledger(Arc<dyn LedgerTool>),
}

/// How a call is kept safe from a crash, and so what becomes of one whose outcome is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// It only reads the memory: it is made again.
    Read,
    /// Its effect on the memory and the record of its outcome are one commit: it has had none, and is made again.
    Shared,
    /// It has its effect once, however often it is made: it is made again.
    Repeatable,
    /// Nobody knows: the model is told so.
    Once,
}
