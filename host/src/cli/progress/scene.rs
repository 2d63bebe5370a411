//! What is shown of a task at one moment.

use jiff::Timestamp;
use wharf::core::view::View;

use super::super::step_list::StepLine;

/// A task at one moment, as far as a display cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Scene {
    pub(in super::super) stage: &'static str,
    pub(in super::super) status: &'static str,
    pub(in super::super) stop_reason: Option<&'static str>,
    pub(in super::super) plan_version: u32,
    pub(in super::super) steps: Vec<StepLine>,
    /// Model attempts reserved and allowed.
    pub(in super::super) plans: (u32, u32),
    /// Tool calls reserved and allowed.
    pub(in super::super) actions: (u32, u32),
    pub(in super::super) deadline_at: Option<Timestamp>,
}

impl From<&View> for Scene {
    fn from(view: &View) -> Self {
        Self {
            stage: view.stage,
            status: view.status,
            stop_reason: view.stop_reason,
            plan_version: view.plan_version,
            steps: view.steps.iter().map(StepLine::from).collect(),
            plans: (view.usage.model_calls, view.usage.max_plans),
            actions: (view.usage.action_calls, view.usage.max_actions),
            deadline_at: view.deadline_at,
        }
    }
}

#[cfg(test)]
impl Scene {
    /// Admitted, nothing done.
    pub(super) fn begun() -> Self {
        Self {
            stage: "snapshot",
            status: "running",
            stop_reason: None,
            plan_version: 0,
            steps: vec![],
            plans: (0, 3),
            actions: (0, 12),
            deadline_at: Some(Timestamp::from_second(600).expect("a time")),
        }
    }
}
