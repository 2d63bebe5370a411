//! The Memory worker: reservations, which the driver has made durable with the intent, and the tools over the memory.

use serde_json::Value;

use super::AgentPorts;
use crate::core::{
    agent::{operations::Calling, state::AgentState},
    cancel::Halt,
    graph::{Node, NodeKind},
    node_values::input,
    worker::{Moment, Worker, Yield},
};

pub(super) struct MemoryWorker {
    pub(super) ports: AgentPorts,
}

impl Worker<AgentState> for MemoryWorker {
    fn shares_commit(&self, node: &Node) -> bool {
        node.kind == NodeKind::MemoryWrite
    }

    fn run(
        &self,
        node: &Node,
        inputs: &[&Value],
        at: &Moment<'_, AgentState>,
    ) -> Result<Yield, Halt> {
        match node.kind {
            NodeKind::MemoryWrite => {
                let calling: Calling = input(inputs, 0)?;
                let memories = self.ports.memories.as_ref().and(at.memories);
                self.ports.call(&calling, memories, at)
            }
            NodeKind::MemoryGet => {
                let calling: Calling = input(inputs, 0)?;
                let memories = self.ports.memories.as_deref();
                self.ports
                    .call(&calling, memories.map(|memories| memories as _), at)
            }
            // Folding the intent has counted it.
            _ => Ok(Value::Null.into()),
        }
    }
}
