//! The form of a plan, and where it is kept.

use serde::{Deserialize, Serialize};

use crate::core::{
    ports::memories::MemoryId,
    view::{StepState, View},
};

/// The name of the plan that is meant where none is named.
pub const CURRENT: &str = "current";

/// A todo list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedPlan {
    /// In the order in which they are meant to be done.
    pub steps: Vec<SharedStep>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedStep {
    /// Names it within the plan: `[A-Za-z0-9_-]{1,80}`.
    pub id: String,
    /// What is to be done: 1 to 1000 characters.
    pub title: String,
    /// How far it is.
    pub status: StepStatus,
    /// The steps that come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Whatever else: 1 to 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl SharedPlan {
    /// How a plan-execute task stands, in the form of a plan: the steps of its newest accepted plan, and those completed before.
    /// A step that failed is pending again if the newest plan names it, else it is left out.
    #[must_use]
    pub fn of_task(view: &View) -> Self {
        let shown = view.steps.iter().filter_map(|step| {
            let status = match step.state {
                StepState::Completed | StepState::Declined => StepStatus::Completed,
                _ if step.version < view.plan_version => return None,
                StepState::Running => StepStatus::InProgress,
                _ => StepStatus::Pending,
            };
            Some(SharedStep {
                id: if step.version == view.plan_version {
                    step.id.clone()
                } else {
                    format!("v{}-{}", step.version, step.id)
                },
                title: step.tool.clone(),
                status,
                depends_on: Vec::new(),
                note: None,
            })
        });
        Self {
            steps: shown.collect(),
        }
    }
}

/// Where the plan of a name is kept.
pub(super) fn id_of(name: &str) -> MemoryId {
    format!("plan:{name}")
        .parse()
        .expect("a name of letters, digits, `_` and `-` makes an id")
}
