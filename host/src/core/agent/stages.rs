//! The Graphs of an agent, one for each stage.

use serde_json::Value;

use super::operations::{AgentAct, Calling, Reserve};
use crate::core::{
    graph::{Graph, Input, Node, NodeKind},
    node_values::to_value,
    outputs::Output,
    tools::Course,
};

/// Asks the model and judges its calls.
pub(super) const TURN: &str = "turn";
/// Makes one call.
pub(super) const CALL: &str = "call";
/// Writes the outputs.
pub(super) const PUBLISH: &str = "publish";

/// Node of the model's answer in the stage `turn`.
pub(super) const REPLY_AT: usize = 2;
/// Node of the verdicts on its calls in the stage `turn`.
pub(super) const JUDGED_AT: usize = 3;
/// Node of the outcome in the stage `call`.
pub(super) const OUTCOME_AT: usize = 1;

pub(super) fn turn(number: u32) -> Graph {
    graph(
        TURN,
        vec![
            literal(NodeKind::MemoryUpdate, to_value(&Reserve::Turn(number))),
            Node {
                kind: NodeKind::ContextLoad,
                inputs: vec![],
            },
            Node {
                kind: NodeKind::InferSample,
                inputs: vec![Input::Output(1)],
            },
            Node {
                kind: NodeKind::InteractionObserve,
                inputs: vec![Input::Output(REPLY_AT)],
            },
        ],
    )
}

/// A call of a tool over the memory is a node of the memory: it shares the commit of its outcome.
pub(super) fn call(number: u32, calling: &Calling, course: Course) -> Graph {
    let call = match course {
        Course::Read => literal(NodeKind::MemoryGet, to_value(calling)),
        Course::Shared => literal(NodeKind::MemoryWrite, to_value(calling)),
        Course::Repeatable | Course::Once => literal(
            NodeKind::InteractionAct,
            to_value(&AgentAct::Call(calling.clone())),
        ),
    };
    graph(
        CALL,
        vec![
            literal(NodeKind::MemoryUpdate, to_value(&Reserve::ToolCall(number))),
            call,
        ],
    )
}

pub(super) fn publish(outputs: Vec<Output>) -> Graph {
    graph(
        PUBLISH,
        vec![literal(
            NodeKind::InteractionAct,
            to_value(&AgentAct::Publish(outputs)),
        )],
    )
}

fn graph(stage: &str, nodes: Vec<Node>) -> Graph {
    Graph::new(stage, nodes).expect("the stages are topological and have one effect at most")
}

fn literal(kind: NodeKind, value: Value) -> Node {
    Node {
        kind,
        inputs: vec![Input::Literal(value)],
    }
}
