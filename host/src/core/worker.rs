//! Workers: each executes the nodes of one family.

use serde_json::Value;

use super::{
    cancel::{Cancel, Halt},
    graph::{Family, Node},
    ports::{journal::Position, memories::Memories},
};
use crate::words::error::Error;

/// Executes the nodes of one family for one kind of Loop.
pub trait Worker<L>: Send + Sync {
    /// Whether a node could run at all; asked before the Graph is intended, so that what cannot be done is never charged.
    ///
    /// # Errors
    /// Why it could not.
    fn check(&self, _node: &Node, _state: &L, _cancel: &Cancel) -> Result<(), Halt> {
        Ok(())
    }

    /// Whether the node changes the memory of the workspace: its effect and its outcome are then one commit, and the node is
    /// lent that memory.
    fn shares_commit(&self, _node: &Node) -> bool {
        false
    }

    /// Executes one node.
    ///
    /// # Errors
    /// Anything that ends the run; the task stays resumable.
    fn run(&self, node: &Node, inputs: &[&Value], at: &Moment<'_, L>) -> Result<Yield, Halt>;

    /// Makes durable what the worker has read so far; called before outputs are journaled.
    ///
    /// # Errors
    /// The store does not answer.
    fn settle(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// What a node yields.
#[derive(Debug, Clone, PartialEq)]
pub struct Yield {
    /// For later nodes of the same Graph.
    pub value: Value,
    /// For the journal.
    pub kept: Value,
    /// What the node did to the memory must not stay; its outcome does.
    pub undo: bool,
}

impl Yield {
    /// A value that later nodes need and the journal does not, and what the journal keeps instead.
    #[must_use]
    pub const fn transient(value: Value, kept: Value) -> Self {
        Self {
            value,
            kept,
            undo: false,
        }
    }
}

impl From<Value> for Yield {
    fn from(value: Value) -> Self {
        Self {
            kept: value.clone(),
            value,
            undo: false,
        }
    }
}

/// The moment at which a node runs.
pub struct Moment<'a, L> {
    /// The Loop's state.
    pub state: &'a L,
    /// The record that intends the Graph; durable if the Graph has an effect.
    pub intent: Position,
    /// When it was intended.
    pub intended_at: jiff::Timestamp,
    /// For waiting.
    pub cancel: &'a Cancel,
    /// The memory of the workspace, inside the commit of the outcome; for nodes that share it.
    pub memories: Option<&'a dyn Memories>,
    /// Where pieces of a model's answer go.
    pub deltas: &'a (dyn Fn(&str) + Sync),
    /// Where a tool's news of itself go, with the tool's name.
    pub tool_progress: &'a (dyn Fn(&str, &str) + Sync),
}

/// One Worker for each family.
pub struct Workers<L> {
    /// What is stored.
    pub memory: Box<dyn Worker<L>>,
    /// The working set.
    pub context: Box<dyn Worker<L>>,
    /// The model.
    pub infer: Box<dyn Worker<L>>,
    /// The world.
    pub interaction: Box<dyn Worker<L>>,
}

impl<L> Workers<L> {
    /// The Worker that runs a node.
    #[must_use]
    pub fn of(&self, node: &Node) -> &dyn Worker<L> {
        match node.kind.family() {
            Family::Memory => &*self.memory,
            Family::Context => &*self.context,
            Family::Infer => &*self.infer,
            Family::Interaction => &*self.interaction,
        }
    }

    /// Settles all of them.
    ///
    /// # Errors
    /// The first that fails.
    pub fn settle(&self) -> Result<(), Error> {
        [&self.memory, &self.context, &self.infer, &self.interaction]
            .into_iter()
            .try_for_each(|worker| worker.settle())
    }
}
