//! The report for people: what was asked, each plan and why it was given up, each step with its evidence, budgets, the result.

use std::fmt::Write as _;

use super::{
    state::{AcceptedPlan, TaskState, Verdict},
    stop::Status,
};
use crate::{core::contract::PlanStatus, words::escape::is_unsafe};

pub(super) fn render(state: &TaskState, verdict: &Verdict) -> String {
    let mut text = String::new();
    write_report(&mut text, state, verdict).expect("writing to a string does not fail");
    text
}

fn write_report(out: &mut String, state: &TaskState, verdict: &Verdict) -> std::fmt::Result {
    let request = &state.request;
    let outcome = match verdict.reason.status() {
        Status::Completed => "completed",
        Status::NeedsHuman => "needs a person",
        Status::Partial => "stopped before it was done",
    };
    writeln!(out, "# Task `{}`: {outcome}\n", request.id)?;
    if let Some(claim) = &verdict.claim {
        writeln!(out, "{}\n", plain(&claim.summary))?;
    }
    writeln!(out, "- Stop reason: `{}`", verdict.reason.code())?;
    for detail in &verdict.details {
        let step = detail
            .step_id
            .as_ref()
            .map(|step| format!(" (step `{}`)", code(step)))
            .unwrap_or_default();
        writeln!(
            out,
            "  - `{}`{step}: {}",
            code(&detail.code),
            plain(&detail.message)
        )?;
    }
    writeln!(
        out,
        "- Asked by `{}` of tenant `{}`: {}",
        request.principal,
        request.tenant,
        plain(&request.goal)
    )?;
    writeln!(out, "- Input: `{}`", request.input.canonical())?;
    writeln!(
        out,
        "- Plugin: `{}` {}, `{}`",
        request.plugin.name,
        plain(&request.plugin.version),
        request.plugin.digest
    )?;
    writeln!(out, "- Request: `{}`", request.fingerprint())?;

    for plan in &state.plans {
        write_plan(out, state, plan)?;
    }
    write_steps(out, state)?;
    let budgets = state.spending.budgets();
    writeln!(out, "\n## Budgets\n")?;
    writeln!(out, "| | used | allowed |\n|---|---|---|")?;
    writeln!(
        out,
        "| model calls | {} | {} |",
        state.spending.model_calls(),
        budgets.max_plans
    )?;
    writeln!(
        out,
        "| actions | {} | {} |",
        state.spending.action_calls(),
        budgets.max_actions
    )?;
    if let Some(started) = state.started_at {
        let used = state.now.duration_since(started);
        writeln!(
            out,
            "| seconds | {}.{:03} | {} |",
            used.as_secs(),
            used.subsec_millis(),
            budgets.deadline_seconds
        )?;
    }
    writeln!(out, "\n## Result\n")?;
    match &verdict.claim {
        Some(claim) => {
            writeln!(
                out,
                "Verified by the plugin from committed records:\n\n```json\n{}\n```",
                claim.result.as_str()
            )?;
            for artifact in &claim.artifacts {
                writeln!(out, "\nFile: `{}`", artifact.name)?;
            }
        }
        None => writeln!(out, "None: only a completed task claims a result.")?,
    }
    writeln!(
        out,
        "\n---\nJournal: {} records, head `{}`; generated {}.",
        state.position.sequence, state.position.head, state.now
    )
}

fn write_plan(out: &mut String, state: &TaskState, entry: &AcceptedPlan) -> std::fmt::Result {
    let AcceptedPlan {
        version,
        snapshot,
        plan,
    } = entry;
    writeln!(out, "\n## Plan {version}\n")?;
    writeln!(out, "State: `{}`\n", snapshot.canonical())?;
    writeln!(out, "{}", plain(&plan.reason))?;
    if plan.status == PlanStatus::NeedsHuman {
        writeln!(out, "\nThis plan asks for a person.")?;
    }
    if !plan.steps.is_empty() {
        writeln!(out)?;
    }
    for (index, step) in plan.steps.iter().enumerate() {
        let arguments = step
            .arguments
            .as_ref()
            .map(|arguments| format!(" with `{}`", arguments.canonical()))
            .unwrap_or_default();
        writeln!(
            out,
            "{}. `{}`: {}{arguments}, to reach `{}`",
            index + 1,
            step.id,
            plain(&step.tool),
            code(&step.expected)
        )?;
    }
    for change in state
        .changes
        .iter()
        .filter(|change| change.version == *version)
    {
        writeln!(
            out,
            "\nGiven up at step `{}` ({}): {}",
            code(&change.step_id),
            change.code,
            plain(&change.message)
        )?;
    }
    Ok(())
}

fn write_steps(out: &mut String, state: &TaskState) -> std::fmt::Result {
    writeln!(out, "\n## Steps\n")?;
    if state.completed.is_empty() {
        return writeln!(out, "None was completed.");
    }
    writeln!(
        out,
        "| plan | step | tool | operation | evidence | |\n|---|---|---|---|---|---|"
    )?;
    for step in &state.completed {
        let key = step
            .record
            .operation_key
            .as_ref()
            .map_or("-", |key| key.as_str());
        let note = match (step.record.declined, step.record.replayed) {
            (true, _) => "declined",
            (false, true) => "from the ledger",
            (false, false) => "",
        };
        let performing = &step.performing;
        writeln!(
            out,
            "| {} | `{}` | {} | `{}` | `{}` | {note} |",
            performing.version,
            performing.step.id,
            plain(&performing.step.tool),
            code(key),
            step.evidence_id
        )?;
    }
    Ok(())
}

/// Text from a model or a plugin as one line that cannot become markup.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => plain.push(' '),
            c if is_unsafe(c) => plain.extend(c.escape_default()),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' => {
                plain.extend(['\\', c])
            }
            c => plain.push(c),
        }
    }
    plain
}

/// Text from a model or a plugin for a code span.
fn code(text: &str) -> String {
    text.chars()
        .filter(|c| !is_unsafe(*c))
        .map(|c| if matches!(c, '`' | '|') { '\'' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_become_markup() {
        assert_eq!(
            plain("a\n# b <script> |x| \u{1b}[31m \u{202e}"),
            "a \\# b \\<script\\> \\|x\\| \\u{1b}\\[31m \\u{202e}"
        );
    }
}
