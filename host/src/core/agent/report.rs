//! The report of an agent's task, rendered from the folded state alone.

use jiff::Timestamp;
use serde::Serialize;

use super::{
    state::{AgentState, CallRecord, Ending},
    stop::AgentStop,
};
use crate::{
    core::{
        outputs::Output,
        plan_execute::{report::REPORT_JSON, stop::Status},
        ports::model::Usage,
    },
    words::{
        digest::Digest,
        id::{PrincipalId, TaskId},
    },
};

/// The name of the file with the model's answer.
pub const ANSWER: &str = "answer.md";

/// All outputs in the order in which they are written: the report last, since it marks completeness.
pub(super) fn outputs(state: &AgentState, ending: &Ending) -> Vec<Output> {
    let answer = ending.answer.as_ref().map(|text| {
        let mut text = text.clone();
        text.push('\n');
        Output::new(ANSWER, text.into_bytes())
    });
    let report =
        serde_json::to_string(&Report::of(state, ending)).expect("a report can be written as JSON");
    answer
        .into_iter()
        .chain([Output::new(REPORT_JSON, report.into_bytes())])
        .collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    task_id: &'a TaskId,
    agent: &'a PrincipalId,
    status: Status,
    stop_reason: AgentStop,
    detail: Option<&'a str>,
    answer: Option<&'a str>,
    tool_calls: &'a [CallRecord],
    usage: UsageEntry,
    journal: JournalEntry,
    generated_at: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageEntry {
    turns: u32,
    tool_calls: u32,
    #[serde(flatten)]
    tokens: Usage,
    started_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct JournalEntry {
    records: u64,
    head: Digest,
}

impl<'a> Report<'a> {
    fn of(state: &'a AgentState, ending: &'a Ending) -> Self {
        let fields = &state.request.fields;
        Self {
            task_id: &fields.id,
            agent: &fields.agent,
            status: ending.reason.status(),
            stop_reason: ending.reason,
            detail: ending.detail.as_deref(),
            answer: ending.answer.as_deref(),
            tool_calls: &state.calls,
            usage: UsageEntry {
                turns: state.spending.turns(),
                tool_calls: state.spending.tool_calls(),
                tokens: state.spending.tokens(),
                started_at: state.started_at,
            },
            journal: JournalEntry {
                records: state.position.sequence,
                head: state.position.head,
            },
            generated_at: state.now,
        }
    }
}
