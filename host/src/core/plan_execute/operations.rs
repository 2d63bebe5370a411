//! What the nodes of plan-execute are given and what they yield: the vocabulary that stages, Workers and state share, and
//! that the journal keeps.

use serde::{Deserialize, Serialize};

pub use crate::core::{
    node_values::{output, to_value},
    outputs::{Content, Output},
};
use crate::{
    core::contract::{Artifact, Conclusion, OperationKey, Step, Violation},
    words::{digest::Digest, id::TaskId, json::JsonText},
};

/// What a `memory.*` node is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Memory {
    /// Reserve the n-th model attempt.
    ReservePlan(u32),
    /// Reserve the n-th tool call.
    ReserveAction(u32),
    /// Write the evidence of the outcome given as second input.
    KeepEvidence,
    /// Compare all evidence with ledger and journal.
    VerifyEvidence,
}

/// What an `interaction.act` node is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// Perform a step in a business transaction. Yields [`Performance`].
    Perform(Performing),
    /// Write the outputs. Yields null.
    Publish(Vec<Output>),
}

/// What an `interaction.observe` node is to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Observe {
    /// The business state. Yields [`Seen`].
    Snapshot,
    /// Whether host and plugin accept the plan in the answer given as second input. Yields [`Checked`].
    CheckPlan,
    /// Whether the outcome given as second input is this call's, and what the ledger says. Yields null.
    Outcome,
    /// Whether the effect of a step is there. Yields [`Performance`].
    Effect {
        /// The step.
        performing: Performing,
        /// The journal says already that its outcome is unknown.
        known_unknown: bool,
    },
    /// Whether the completed steps fulfil the request in the state given as second input. Yields [`Concluded`].
    Conclude,
}

/// A step of a plan version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Performing {
    /// The plan's version.
    pub version: u32,
    /// The step.
    pub step: Step,
}

/// The business state, or why the plugin did not give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Seen {
    /// As the plugin wrote it.
    Snapshot(JsonText),
    /// The plugin rejects the task.
    Rejected(String),
}

/// What host and plugin say of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// All violations; none: accepted.
    pub violations: Vec<Violation>,
}

/// The outcome of one call, tied to the intent that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Performance {
    /// The sequence of the intent.
    pub correlation: u64,
    /// How it ended; none: it has had no effect, which only the stage `recover` can find.
    pub outcome: Option<Outcome>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// Committed, or declined as a regular answer.
    Recorded(StepRecord),
    /// A precondition no longer holds.
    EnvironmentChanged {
        /// The plugin's words.
        message: String,
    },
    /// Nobody can say whether it has had its effect.
    OutcomeUnknown {
        /// Why.
        message: String,
        /// The operation.
        operation_key: OperationKey,
    },
    /// Replanning cannot help.
    Rejected {
        /// The plugin's words.
        message: String,
    },
    /// The subject belongs to another input.
    SubjectConflict {
        /// The task that touched it first.
        task: TaskId,
        /// The operation that stands in the ledger.
        operation_key: OperationKey,
    },
}

/// The record of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    /// None: a read without a ledger row.
    pub operation_key: Option<OperationKey>,
    /// The data, as the plugin wrote it.
    pub data: JsonText,
    /// It stood in the ledger before this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The plugin declined it; no ledger row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
    /// Where another tool or task performed it: that one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Who performed an operation that was answered from the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The tool.
    pub tool: String,
    /// The fingerprint of the request.
    pub fingerprint: Digest,
}

/// What the plugin says of the completed work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Concluded {
    /// It fulfils the request.
    Fulfilled {
        /// From committed records.
        result: JsonText,
        /// One line for people.
        summary: String,
        /// Files.
        artifacts: Vec<Output>,
    },
    /// It does not.
    Refused {
        /// Why.
        violations: Vec<Violation>,
    },
}

impl From<Artifact> for Output {
    fn from(artifact: Artifact) -> Self {
        Self::new(artifact.name, artifact.content)
    }
}

impl From<Conclusion> for Concluded {
    fn from(conclusion: Conclusion) -> Self {
        let artifacts = conclusion.artifacts.into_iter().map(Output::from).collect();
        Self::Fulfilled {
            result: conclusion.result,
            summary: conclusion.summary,
            artifacts,
        }
    }
}
