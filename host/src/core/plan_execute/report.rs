//! The report: what a finished task did and what it may claim, rendered from the folded state alone.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    operations::Output,
    report_markdown,
    state::{AcceptedPlan, Change, CompletedStep, TaskState, Verdict},
    stop::{Status, StopReason},
};
use crate::{
    core::{
        contract::{OperationKey, Plan, Step, Violation},
        request::PluginRef,
    },
    words::{digest::Digest, id::TaskId},
};

/// The name of the report.
pub const REPORT_JSON: &str = "report.json";
/// The name of the report for people.
pub const REPORT_MARKDOWN: &str = "report.md";

/// All outputs of a task in the order in which they are written: the report last, since it marks completeness.
pub(super) fn outputs(state: &TaskState, verdict: &Verdict) -> Vec<Output> {
    let report = Report::of(state, verdict);
    let json = serde_json::to_string(&report).expect("a report can be written as JSON");
    let mut outputs = verdict
        .claim
        .as_ref()
        .map_or_else(Vec::new, |claim| claim.artifacts.clone());
    outputs.push(Output::new(
        REPORT_MARKDOWN,
        report_markdown::render(state, verdict).into_bytes(),
    ));
    outputs.push(Output::new(REPORT_JSON, json.into_bytes()));
    outputs
}

/// The text of `report.json` for a task that has stopped and publishes now.
#[must_use]
pub fn render(state: &TaskState) -> Option<String> {
    state.verdict().map(|verdict| {
        serde_json::to_string(&Report::of(state, verdict)).expect("a report can be written as JSON")
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    task_id: &'a TaskId,
    status: Status,
    stop_reason: StopReason,
    details: &'a [Violation],
    plans: Vec<PlanEntry<'a>>,
    completed: Vec<CompletedEntry<'a>>,
    changes: &'a [Change],
    usage: Usage,
    result: Option<&'a RawValue>,
    plugin: &'a PluginRef,
    journal: JournalEntry,
    generated_at: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanEntry<'a> {
    version: u32,
    snapshot: &'a RawValue,
    plan: &'a Plan,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletedEntry<'a> {
    version: u32,
    step: &'a Step,
    operation_key: Option<&'a OperationKey>,
    evidence_id: Digest,
    replayed: bool,
    declined: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    model_calls: u32,
    action_calls: u32,
    started_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct JournalEntry {
    records: u64,
    head: Digest,
}

impl<'a> Report<'a> {
    fn of(state: &'a TaskState, verdict: &'a Verdict) -> Self {
        Self {
            task_id: &state.request.id,
            status: verdict.reason.status(),
            stop_reason: verdict.reason,
            details: &verdict.details,
            plans: state
                .plans
                .iter()
                .map(
                    |AcceptedPlan {
                         version,
                         snapshot,
                         plan,
                     }| PlanEntry {
                        version: *version,
                        snapshot: snapshot.raw(),
                        plan,
                    },
                )
                .collect(),
            completed: state.completed.iter().map(completed_entry).collect(),
            changes: &state.changes,
            usage: Usage {
                model_calls: state.spending.model_calls(),
                action_calls: state.spending.action_calls(),
                started_at: state.started_at,
            },
            result: verdict.claim.as_ref().map(|claim| claim.result.raw()),
            plugin: &state.request.plugin,
            journal: JournalEntry {
                records: state.position.sequence,
                head: state.position.head,
            },
            generated_at: state.now,
        }
    }
}

fn completed_entry(step: &CompletedStep) -> CompletedEntry<'_> {
    CompletedEntry {
        version: step.performing.version,
        step: &step.performing.step,
        operation_key: step.record.operation_key.as_ref(),
        evidence_id: step.evidence_id,
        replayed: step.record.replayed,
        declined: step.record.declined,
    }
}
