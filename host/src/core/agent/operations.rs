//! What the nodes of an agent are given and what they yield, as the journal keeps it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    core::{
        outputs::Output,
        ports::agent_model::ModelCall,
        tools::{ToolError, Verdict},
    },
    words::digest::Digest,
};

/// What a `memory.update` node reserves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reserve {
    /// The n-th turn.
    Turn(u32),
    /// The n-th tool call.
    ToolCall(u32),
}

/// A call that is made: by an `interaction.act` node, or by a `memory` node where the memory is all that it touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Calling {
    /// As the model wrote it.
    pub call: ModelCall,
    /// Of its name and its arguments, canonical.
    pub digest: Digest,
    /// A person has approved it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
}

/// What an `interaction.act` node is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentAct {
    /// Call a tool. Yields [`ToolOutcome`].
    Call(Calling),
    /// Write the outputs. Yields null.
    Publish(Vec<Output>),
}

/// What became of the calls in an answer: a verdict for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Judged {
    /// In the order of the calls.
    pub verdicts: Vec<Verdict>,
}

/// How a call ended, tied to the intent that it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolOutcome {
    /// The sequence of the intent.
    pub correlation: u64,
    /// What the tool answered.
    pub result: Told,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Told {
    /// Its result.
    Result(Value),
    /// Its refusal.
    Error(ToolError),
}

impl From<Result<Value, ToolError>> for Told {
    fn from(result: Result<Value, ToolError>) -> Self {
        match result {
            Ok(value) => Self::Result(value),
            Err(error) => Self::Error(error),
        }
    }
}
