//! A Graph: the work of one stage, as data.
//!
//! A flat list of nodes in topological order. A node's inputs are literals or outputs of earlier nodes; at most one
//! node has an effect. The Graph is journaled whole before it runs, so that recovery runs the very same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most nodes a Graph may have.
pub const MAX_NODES: usize = 16;

/// The work of one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Graph {
    stage: String,
    nodes: Vec<Node>,
}

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Which Worker runs it, and how.
    pub kind: NodeKind,
    /// What it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

/// What a node is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Input {
    /// A value.
    Literal(Value),
    /// The output of an earlier node of the same Graph.
    Output(usize),
}

/// The kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// Reads what was stored.
    #[serde(rename = "memory.get")]
    MemoryGet,
    /// Stores something new.
    #[serde(rename = "memory.write")]
    MemoryWrite,
    /// A checkpoint: what was reserved is durable.
    #[serde(rename = "memory.update")]
    MemoryUpdate,
    /// Loads the working set, rebuilding one that is missing or outdated.
    #[serde(rename = "context.load")]
    ContextLoad,
    /// Asks the model; billed, hence an effect.
    #[serde(rename = "infer.sample")]
    InferSample,
    /// Changes the world.
    #[serde(rename = "interaction.act")]
    InteractionAct,
    /// Looks at the world.
    #[serde(rename = "interaction.observe")]
    InteractionObserve,
}

/// The Worker that runs a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// What is stored.
    Memory,
    /// The working set.
    Context,
    /// The model.
    Infer,
    /// The world.
    Interaction,
}

impl NodeKind {
    /// The Worker that runs it.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::MemoryGet | Self::MemoryWrite | Self::MemoryUpdate => Family::Memory,
            Self::ContextLoad => Family::Context,
            Self::InferSample => Family::Infer,
            Self::InteractionAct | Self::InteractionObserve => Family::Interaction,
        }
    }

    /// Whether running it twice costs or changes something.
    #[must_use]
    pub const fn is_effect(self) -> bool {
        matches!(self, Self::InferSample | Self::InteractionAct)
    }
}

/// Why nodes do not form a Graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGraph {
    /// No node, or too many.
    #[error("a graph has 1 to {MAX_NODES} nodes, not {0}")]
    Size(usize),
    /// An input refers to the node itself or to a later one.
    #[error("node {0} takes the output of a node that does not come before it")]
    Order(usize),
    /// Two nodes have an effect.
    #[error("a graph has at most one effect")]
    TwoEffects,
}

impl Graph {
    /// Checks and keeps the nodes of a stage.
    ///
    /// # Errors
    /// Too many nodes, a forward reference, or two effects.
    pub fn new(stage: impl Into<String>, nodes: Vec<Node>) -> Result<Self, InvalidGraph> {
        if nodes.is_empty() || nodes.len() > MAX_NODES {
            return Err(InvalidGraph::Size(nodes.len()));
        }
        for (at, node) in nodes.iter().enumerate() {
            if node
                .inputs
                .iter()
                .any(|input| matches!(input, Input::Output(from) if *from >= at))
            {
                return Err(InvalidGraph::Order(at));
            }
        }
        if nodes.iter().filter(|node| node.kind.is_effect()).count() > 1 {
            return Err(InvalidGraph::TwoEffects);
        }
        Ok(Self {
            stage: stage.into(),
            nodes,
        })
    }

    /// The stage's name.
    #[must_use]
    pub fn stage(&self) -> &str {
        &self.stage
    }

    /// The nodes, in the order in which they run.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether one of its nodes has an effect.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        self.nodes.iter().any(|node| node.kind.is_effect())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    stage: String,
    nodes: Vec<Node>,
}

impl TryFrom<Parts> for Graph {
    type Error = InvalidGraph;

    fn try_from(parts: Parts) -> Result<Self, InvalidGraph> {
        Self::new(parts.stage, parts.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(kind: NodeKind, inputs: Vec<Input>) -> Node {
        Node { kind, inputs }
    }

    #[test]
    fn a_graph_is_topological_and_has_at_most_one_effect() {
        let observe = || node(NodeKind::InteractionObserve, vec![]);
        let act = || node(NodeKind::InteractionAct, vec![]);
        assert!(
            Graph::new(
                "s",
                vec![
                    observe(),
                    node(NodeKind::MemoryWrite, vec![Input::Output(0)])
                ]
            )
            .is_ok()
        );
        assert_eq!(
            Graph::new(
                "s",
                vec![node(NodeKind::MemoryWrite, vec![Input::Output(0)])]
            ),
            Err(InvalidGraph::Order(0))
        );
        assert_eq!(
            Graph::new("s", vec![act(), node(NodeKind::InferSample, vec![])]),
            Err(InvalidGraph::TwoEffects)
        );
        assert_eq!(Graph::new("s", vec![]), Err(InvalidGraph::Size(0)));
        assert_eq!(
            Graph::new("s", (0..17).map(|_| observe()).collect()),
            Err(InvalidGraph::Size(17))
        );
    }

    #[test]
    fn a_stored_graph_is_checked_when_it_is_read() {
        let stored =
            r#"{"stage":"s","nodes":[{"kind":"interaction.act"},{"kind":"infer.sample"}]}"#;
        assert!(serde_json::from_str::<Graph>(stored).is_err());
    }
}
