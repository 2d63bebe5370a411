//! What a person wants to know of an agent's task.

use super::state::{AgentState, Stage};
use crate::core::{
    metering::CallSums,
    view::{AgentView, UsageView, View},
};

pub(super) fn of(state: &AgentState) -> View {
    let budgets = state.spending.budgets();
    let ending = state.verdict();
    let fields = &state.request.fields;
    View {
        stage: match &state.stage {
            Stage::Turning | Stage::Interrupted(_) => "turn",
            Stage::Calling => "call",
            Stage::Waiting => "approval",
            Stage::Stopped(_) | Stage::Publishing(..) => "publish",
            Stage::Published(..) => "done",
        },
        status: match (&state.stage, ending) {
            (Stage::Interrupted(_), _) => "interrupted",
            (Stage::Waiting, _) => "waiting",
            (_, Some(ending)) => ending.reason.status().code(),
            (_, None) => "running",
        },
        stop_reason: ending.map(|ending| ending.reason.code()),
        plan_version: 0,
        steps: Vec::new(),
        usage: UsageView {
            model_calls: state.spending.turns(),
            max_plans: budgets.max_turns,
            invalid_plans: 0,
            max_invalid_plans: 0,
            action_calls: state.spending.tool_calls(),
            max_actions: budgets.max_tool_calls,
        },
        tokens: Some(state.spending.tokens()).filter(|_| state.answers > 0),
        retry_at: state.retry_at,
        started_at: state.started_at,
        deadline_at: state
            .started_at
            .and_then(|started| started.checked_add(budgets.deadline()).ok()),
        records: state.position.sequence,
        calls: CallSums::default(),
        agent: Some(AgentView {
            name: fields.agent.to_string(),
            waiting: state.waiting(),
            max_tokens: budgets.max_tokens,
        }),
    }
}
