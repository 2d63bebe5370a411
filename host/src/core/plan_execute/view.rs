//! What a person wants to know of a plan-execute task.

use super::state::{Stage, TaskState};
use crate::core::{
    metering::CallSums,
    view::{StepState, StepView, UsageView, View},
};

pub(super) fn of(state: &TaskState) -> View {
    let budgets = state.spending.budgets();
    let verdict = state.verdict();
    View {
        stage: match &state.stage {
            Stage::Snapshotting => "snapshot",
            Stage::Planning | Stage::Interrupted(_) => "plan",
            Stage::Executing(_) => "step",
            Stage::Recovering { .. } => "recover",
            Stage::Concluding => "conclude",
            Stage::Stopped(_) | Stage::Publishing(..) => "publish",
            Stage::Published(..) => "done",
        },
        status: match (&state.stage, verdict) {
            (Stage::Interrupted(_), _) => "interrupted",
            (_, Some(verdict)) => verdict.reason.status().code(),
            (_, None) => "running",
        },
        stop_reason: verdict.map(|verdict| verdict.reason.code()),
        plan_version: state.plans.last().map_or(0, |plan| plan.version),
        steps: steps(state),
        usage: UsageView {
            model_calls: state.spending.model_calls(),
            max_plans: budgets.max_plans,
            invalid_plans: state.spending.invalid_plans(),
            max_invalid_plans: budgets.max_invalid_plans,
            action_calls: state.spending.action_calls(),
            max_actions: budgets.max_actions,
        },
        tokens: state.tokens,
        retry_at: state.retry_at,
        started_at: state.started_at,
        deadline_at: state
            .started_at
            .and_then(|started| started.checked_add(budgets.deadline()).ok()),
        records: state.position.sequence,
        calls: CallSums::default(),
        agent: None,
    }
}

fn steps(state: &TaskState) -> Vec<StepView> {
    let newest = state.plans.last().map_or(0, |plan| plan.version);
    let current = match state.stage {
        Stage::Executing(index) | Stage::Recovering { index, .. } => Some(index),
        _ => None,
    };
    let state_of = |version: u32, index: usize, id: &str| {
        let done = state.completed.iter().find(|step| {
            step.performing.version == version && step.performing.step.id.as_str() == id
        });
        match done {
            Some(step) if step.record.declined => StepState::Declined,
            Some(_) => StepState::Completed,
            None if state
                .changes
                .iter()
                .any(|change| change.version == version && change.step_id == id) =>
            {
                StepState::Failed
            }
            None if version < newest => StepState::Superseded,
            None if current == Some(index) && state.in_flight => StepState::Running,
            None => StepState::Pending,
        }
    };
    let of_plan = |plan: &super::state::AcceptedPlan| {
        let version = plan.version;
        let step = |(index, step): (usize, &crate::core::contract::Step)| {
            let id = step.id.to_string();
            StepView {
                version,
                state: state_of(version, index, &id),
                id,
                tool: step.tool.clone(),
            }
        };
        plan.plan
            .steps
            .iter()
            .enumerate()
            .map(step)
            .collect::<Vec<_>>()
    };
    state.plans.iter().flat_map(of_plan).collect()
}
