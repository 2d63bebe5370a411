//! What a person wants to know of a task: for the live display and for `status`.

use jiff::Timestamp;
use serde::Serialize;

use super::{agent::state::WaitingCall, metering::CallSums, ports::model::Usage};

/// A task at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct View {
    /// Where it stands.
    pub stage: &'static str,
    /// `running` until there is a stop reason, then the report's status.
    pub status: &'static str,
    /// Why it stopped, where it did.
    pub stop_reason: Option<&'static str>,
    /// The version of the newest accepted plan; 0 before the first.
    pub plan_version: u32,
    /// All steps of all accepted plans, oldest first.
    pub steps: Vec<StepView>,
    /// Budgets used.
    pub usage: UsageView,
    /// Tokens of all answers that said so; none where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Usage>,
    /// When the model that failed is asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// When it was admitted.
    pub started_at: Option<Timestamp>,
    /// When admission of new plans and actions ends.
    pub deadline_at: Option<Timestamp>,
    /// Records folded.
    pub records: u64,
    /// What the plugin's calls used, by export.
    pub calls: CallSums,
    /// What is to be known of an agent alone; its turns and tool calls are counted as model and action calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentView>,
}

/// An agent at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentView {
    /// Its name.
    pub name: String,
    /// The call that waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingCall>,
    /// Tokens allowed, over all turns.
    pub max_tokens: u64,
}

/// One step of an accepted plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StepView {
    /// The plan's version.
    pub version: u32,
    /// The step's id.
    pub id: String,
    /// Its tool.
    pub tool: String,
    /// How far it is.
    pub state: StepState,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StepState {
    /// Not begun.
    Pending,
    /// Being performed.
    Running,
    /// Committed and verified.
    Completed,
    /// Declined by the domain as a regular answer.
    Declined,
    /// Ended without an effect, or with an unknown one.
    Failed,
    /// A later plan took its place.
    Superseded,
}

/// Budgets used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UsageView {
    /// Model attempts reserved.
    pub model_calls: u32,
    /// Model attempts allowed.
    pub max_plans: u32,
    /// Refused plans after which the model was asked again.
    pub invalid_plans: u32,
    /// Refused plans after which the model may be asked again.
    pub max_invalid_plans: u32,
    /// Tool calls reserved.
    pub action_calls: u32,
    /// Tool calls allowed.
    pub max_actions: u32,
}
