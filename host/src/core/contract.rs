//! What the host and a domain plugin tell each other: the inner model that every contract version is converted to.

use serde::{Deserialize, Serialize};

use crate::words::{
    digest::Digest,
    id::StepId,
    json::{JsonText, embedded},
};

/// What a plugin says of itself.
#[derive(Debug, Clone)]
pub struct Descriptor {
    /// The plugin's name, an identifier; the ledger knows the plugin by it.
    pub name: String,
    /// The plugin's own version.
    pub version: String,
    /// Domain rules for the planning model.
    pub instructions: String,
    /// JSON Schema of a request's `input`.
    pub input_schema: JsonText,
    /// The operations that a plan may name, in declared order.
    pub tools: Vec<Tool>,
    /// Numbered schema changes of the plugin's own tables, ascending.
    pub migrations: Vec<Migration>,
    /// The most steps a plan may have.
    pub max_steps: u32,
}

impl Descriptor {
    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// One business operation that a plan may name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Unique within the plugin.
    pub name: String,
    /// For the planning model.
    pub description: String,
    /// What it may touch.
    pub effect: Effect,
    /// The only value a step's `expected` may have, and the state `perform` must report.
    pub postcondition: String,
    /// JSON Schema of a step's arguments; none: it takes none.
    pub arguments: Option<JsonText>,
}

/// What a tool may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Changes no row.
    Read,
    /// Changes rows of the plugin's own tables.
    Write,
}

/// One numbered schema change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// Its number, from 1 upwards.
    pub version: u32,
    /// The statements.
    pub sql: String,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Unique within its plan.
    pub id: StepId,
    /// The tool's name.
    pub tool: String,
    /// Ids of earlier steps.
    pub depends_on: Vec<StepId>,
    /// The tool's postcondition.
    pub expected: String,
    /// The tool's arguments, where it takes some.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "embedded")]
    pub arguments: Option<JsonText>,
}

impl Step {
    /// The digest of the canonical arguments; of `null` where there are none.
    pub(crate) fn arguments_digest(&self) -> Digest {
        self.arguments
            .as_ref()
            .map_or_else(|| Digest::of("null"), JsonText::digest)
    }
}

/// What a plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanStatus {
    /// Execute the steps.
    Ready,
    /// Nothing can be done; a person decides.
    NeedsHuman,
}

/// A complete proposal for what remains of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The goal in the model's own words.
    pub goal: String,
    /// Whether to execute or to ask a person.
    pub status: PlanStatus,
    /// Why, in the model's own words.
    pub reason: String,
    /// In topological order, executed in that order.
    pub steps: Vec<Step>,
}

/// One fault of a task, a plan or a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    /// Stable, for programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// The step at fault, where there is one.
    pub step_id: Option<String>,
}

/// A step whose record the host has verified, as the plugin sees it.
#[derive(Debug, Clone)]
pub struct Completed {
    /// The step.
    pub step: Step,
    /// None: a read without a ledger row.
    pub operation_key: Option<String>,
    /// The plugin declined it as a regular outcome.
    pub declined: bool,
    /// The committed data, as the plugin wrote it.
    pub data: JsonText,
}

/// A file that a completed task yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// 1 to 80 letters, digits, `.`, `_`, `-`; never beginning with `report.` or `.`.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// What a completed task may claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    /// From committed records.
    pub result: JsonText,
    /// One line for people.
    pub summary: String,
    /// Files.
    pub artifacts: Vec<Artifact>,
}

/// How a performed step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepAnswer {
    /// It holds: the state reached and the record.
    Done {
        /// Must equal the tool's postcondition.
        state: String,
        /// The record.
        data: JsonText,
    },
    /// A refusal that the domain counts as a regular answer.
    Declined(JsonText),
}

/// Why a step or a snapshot was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A precondition no longer holds: replan.
    EnvironmentChanged(String),
    /// Replanning cannot help: stop.
    Rejected(String),
}

/// The subject of a task: 1 to 200 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Subject(String);

/// The semantic name of one business operation on a subject: 1 to 200 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct OperationKey(String);

/// The text is too short, too long, or holds NUL.
#[derive(Debug, thiserror::Error)]
#[error("a subject or an operation key has 1 to 200 bytes without NUL")]
pub struct NotAShortText;

macro_rules! short_text {
    ($name:ident) => {
        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAShortText;

            fn try_from(text: String) -> Result<Self, NotAShortText> {
                Self::new(text).ok_or(NotAShortText)
            }
        }

        impl $name {
            /// Accepts 1 to 200 bytes without NUL.
            #[must_use]
            pub fn new(text: String) -> Option<Self> {
                ((1..=200).contains(&text.len()) && !text.contains('\0')).then_some(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}
short_text!(Subject);
short_text!(OperationKey);
