//! The Graphs of plan-execute, one for each stage.

use super::operations::{Act, Memory, Observe, Output, Performing, to_value};
use crate::core::graph::{Graph, Input, Node, NodeKind};

/// Looks at the business state.
pub(super) const SNAPSHOT: &str = "snapshot";
/// Asks the model and has its answer checked.
pub(super) const PLAN: &str = "plan";
/// Performs one step.
pub(super) const STEP: &str = "step";
/// Looks for the effect of a step whose outcome is not recorded.
pub(super) const RECOVER: &str = "recover";
/// Has the plugin verify the result.
pub(super) const CONCLUDE: &str = "conclude";
/// Writes the outputs.
pub(super) const PUBLISH: &str = "publish";

/// Node of the snapshot in the stages `snapshot` and `conclude`.
pub(super) const SNAPSHOT_AT: usize = 0;
/// Node of the model's answer in the stage `plan`.
pub(super) const ANSWER_AT: usize = 2;
/// Node of the verdict on the plan in the stage `plan`.
pub(super) const CHECKED_AT: usize = 3;
/// Node of the outcome in the stage `step`.
pub(super) const OUTCOME_AT: usize = 1;
/// Node of the outcome in the stage `recover`.
pub(super) const RECOVERED_AT: usize = 0;
/// Node of the verdict on the result in the stage `conclude`.
pub(super) const CONCLUDED_AT: usize = 2;

pub(super) fn snapshot() -> Graph {
    graph(SNAPSHOT, vec![observe(&Observe::Snapshot, &[])])
}

pub(super) fn plan(attempt: u32) -> Graph {
    graph(
        PLAN,
        vec![
            memory(NodeKind::MemoryUpdate, &Memory::ReservePlan(attempt), &[]),
            Node {
                kind: NodeKind::ContextLoad,
                inputs: vec![],
            },
            Node {
                kind: NodeKind::InferSample,
                inputs: vec![Input::Output(1)],
            },
            observe(&Observe::CheckPlan, &[ANSWER_AT]),
        ],
    )
}

pub(super) fn step(call: u32, performing: &Performing) -> Graph {
    graph(
        STEP,
        vec![
            memory(NodeKind::MemoryUpdate, &Memory::ReserveAction(call), &[]),
            Node {
                kind: NodeKind::InteractionAct,
                inputs: vec![Input::Literal(to_value(&Act::Perform(performing.clone())))],
            },
            observe(&Observe::Outcome, &[OUTCOME_AT]),
            memory(NodeKind::MemoryWrite, &Memory::KeepEvidence, &[OUTCOME_AT]),
        ],
    )
}

pub(super) fn recover(performing: &Performing, known_unknown: bool) -> Graph {
    graph(
        RECOVER,
        vec![
            observe(
                &Observe::Effect {
                    performing: performing.clone(),
                    known_unknown,
                },
                &[],
            ),
            memory(
                NodeKind::MemoryWrite,
                &Memory::KeepEvidence,
                &[RECOVERED_AT],
            ),
        ],
    )
}

pub(super) fn conclude() -> Graph {
    graph(
        CONCLUDE,
        vec![
            observe(&Observe::Snapshot, &[]),
            memory(NodeKind::MemoryGet, &Memory::VerifyEvidence, &[]),
            observe(&Observe::Conclude, &[SNAPSHOT_AT]),
        ],
    )
}

pub(super) fn publish(outputs: Vec<Output>) -> Graph {
    graph(
        PUBLISH,
        vec![Node {
            kind: NodeKind::InteractionAct,
            inputs: vec![Input::Literal(to_value(&Act::Publish(outputs)))],
        }],
    )
}

fn graph(stage: &str, nodes: Vec<Node>) -> Graph {
    Graph::new(stage, nodes).expect("the stages are topological and have one effect at most")
}

fn observe(what: &Observe, from: &[usize]) -> Node {
    with(NodeKind::InteractionObserve, to_value(what), from)
}

fn memory(kind: NodeKind, what: &Memory, from: &[usize]) -> Node {
    with(kind, to_value(what), from)
}

fn with(kind: NodeKind, literal: serde_json::Value, from: &[usize]) -> Node {
    let outputs = from.iter().map(|&node| Input::Output(node));
    Node {
        kind,
        inputs: std::iter::once(Input::Literal(literal))
            .chain(outputs)
            .collect(),
    }
}
