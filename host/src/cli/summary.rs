//! A report for people, in a screenful.

use std::{fmt::Write as _, path::Path};

use serde::Deserialize;
use serde_json::Value;
use wharf::core::view::StepState;

use super::{
    escape::escaped,
    look::Look,
    step_list::{self, Row},
};

/// Status, plans with their steps, changes, result, and where everything stands.
pub(super) fn of(report: &str, directory: &Path, look: Look) -> String {
    match serde_json::from_str::<Report>(report) {
        Ok(report) => report.render(directory, look),
        // What is shown is a courtesy; the report itself is whole, and stands where the last line says.
        Err(_) => format!("the report stands in {}\n", escaped(&output(directory, ""))),
    }
}

/// What the summary tells of a report.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    task_id: String,
    status: String,
    stop_reason: String,
    details: Vec<Detail>,
    plans: Vec<PlanEntry>,
    completed: Vec<CompletedEntry>,
    changes: Vec<Change>,
    usage: Usage,
    result: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    code: String,
    message: String,
    step_id: Option<String>,
}

#[derive(Deserialize)]
struct PlanEntry {
    version: u32,
    plan: Plan,
}

#[derive(Deserialize)]
struct Plan {
    status: String,
    reason: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    id: String,
    tool: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompletedEntry {
    version: u32,
    step: Step,
    evidence_id: String,
    replayed: bool,
    declined: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    version: u32,
    step_id: String,
    code: String,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    model_calls: u32,
    action_calls: u32,
}

impl Report {
    fn render(&self, directory: &Path, look: Look) -> String {
        let mut text = String::new();
        self.write(&mut text, directory, look)
            .expect("writing to a string does not fail");
        text
    }

    fn write(&self, out: &mut String, directory: &Path, look: Look) -> std::fmt::Result {
        let reason = if self.stop_reason == self.status {
            String::new()
        } else {
            format!(" ({})", escaped(&self.stop_reason))
        };
        writeln!(
            out,
            "{}  {}{reason}",
            look.strong(&format!("task {}", escaped(&self.task_id))),
            look.status(&self.status)
        )?;
        for Detail {
            code,
            message,
            step_id,
        } in &self.details
        {
            let step = step_id
                .as_ref()
                .map(|step| format!(" (step {})", escaped(step)))
                .unwrap_or_default();
            writeln!(
                out,
                "  {}{step}: {}",
                look.warn(&escaped(code)),
                escaped(message)
            )?;
        }
        for plan in &self.plans {
            self.write_plan(out, plan, look)?;
        }
        if let Some(result) = &self.result {
            writeln!(out, "{}", look.strong("result"))?;
            write_result(out, result, look)?;
        }
        let Usage {
            model_calls,
            action_calls,
        } = self.usage;
        let counted = |count: u32, thing: &str| {
            format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
        };
        writeln!(
            out,
            "{}",
            look.faint(&format!(
                "used {}, {}",
                counted(model_calls, "plan"),
                counted(action_calls, "action")
            ))
        )?;
        writeln!(
            out,
            "{}",
            look.faint(&format!(
                "report {}",
                escaped(&output(directory, "report.md"))
            ))
        )
    }

    fn write_plan(
        &self,
        out: &mut String,
        PlanEntry { version, plan }: &PlanEntry,
        look: Look,
    ) -> std::fmt::Result {
        let kind = if plan.status == "ready" {
            String::new()
        } else {
            format!(" ({})", escaped(&plan.status))
        };
        writeln!(
            out,
            "{}{kind}  {}",
            look.strong(&format!("plan {version}")),
            look.faint(&escaped(&plan.reason))
        )?;
        let newest = self.plans.iter().all(|plan| plan.version <= *version);
        let rows: Vec<Row<'_>> = plan
            .steps
            .iter()
            .map(|step| self.row(*version, newest, step, look))
            .collect();
        for line in step_list::table(&rows, look) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn row<'a>(&self, version: u32, newest: bool, step: &'a Step, look: Look) -> Row<'a> {
        let mut completed = self.completed.iter();
        let done = completed.find(|done| done.version == version && done.step.id == step.id);
        let mut changes = self.changes.iter();
        let change = changes.find(|change| change.version == version && change.step_id == step.id);
        let code = change.map(|change| look.warn(&escaped(&change.code)));
        let (state, note) = match (done, change) {
            // Its outcome was unknown, until the ledger told.
            (Some(done), Some(_)) => (
                done.state(),
                format!("{}, {}", done.note(), code.unwrap_or_default()),
            ),
            (Some(done), None) => (done.state(), done.note()),
            (None, Some(change)) => (
                StepState::Failed,
                format!("{}: {}", code.unwrap_or_default(), escaped(&change.message)),
            ),
            (None, None) if newest => (StepState::Pending, "not done".into()),
            (None, None) => (StepState::Superseded, "given up".into()),
        };
        Row {
            mark: look.mark(state),
            id: &step.id,
            tool: &step.tool,
            note,
        }
    }
}

impl CompletedEntry {
    const fn state(&self) -> StepState {
        if self.declined {
            StepState::Declined
        } else {
            StepState::Completed
        }
    }

    fn note(&self) -> String {
        let evidence: String = self.evidence_id.chars().take(12).collect();
        let how = match (self.declined, self.replayed) {
            (true, _) => ", declined",
            (false, true) => ", from the ledger",
            (false, false) => "",
        };
        format!("evidence {}{how}", escaped(&evidence))
    }
}

/// The plugin's own JSON: its fields one per line, where it has fields.
fn write_result(out: &mut String, result: &Value, look: Look) -> std::fmt::Result {
    let Value::Object(fields) = result else {
        return writeln!(out, "  {}", escaped(&result.to_string()));
    };
    let width = fields
        .keys()
        .map(|key| escaped(key).chars().count())
        .max()
        .unwrap_or(0);
    for (key, value) in fields {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        writeln!(
            out,
            "  {}  {}",
            look.faint(&format!("{:width$}", escaped(key))),
            escaped(&value)
        )?;
    }
    Ok(())
}

fn output(directory: &Path, name: &str) -> String {
    directory.join("output").join(name).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_a_screenful_in_which_nothing_is_obeyed() {
        let step =
            |id: &str| serde_json::json!({"id": id, "tool": "t", "dependsOn": [], "expected": "e"});
        let report = serde_json::json!({
            "taskId": "a", "status": "completed", "stopReason": "completed", "details": [],
            "plans": [
                {"version": 1, "snapshot": {}, "plan": {"goal": "g", "status": "ready", "reason": "r\u{1b}[2J", "steps": [step("x"), step("y")]}},
                {"version": 2, "snapshot": {}, "plan": {"goal": "g", "status": "ready", "reason": "r2", "steps": [step("z")]}},
            ],
            "completed": [
                {"version": 1, "step": step("x"), "operationKey": "k", "evidenceId": "0123456789abcdef", "replayed": false, "declined": false},
                {"version": 2, "step": step("z"), "operationKey": "k", "evidenceId": "fedcba9876543210", "replayed": true, "declined": false},
            ],
            "changes": [{"version": 1, "stepId": "y", "code": "environment-changed", "message": "m"}],
            "usage": {"modelCalls": 2, "actionCalls": 1, "startedAt": "2026-01-01T00:00:00Z"},
            "result": {"id": "R-1", "amount": 400}, "plugin": {}, "journal": {}, "generatedAt": "2026-01-01T00:00:00Z",
        });
        let expected = "task a  completed\n\
            plan 1  r\\u{1b}[2J\n  [x] x  t  evidence 0123456789ab\n  [!] y  t  environment-changed: m\n\
            plan 2  r2\n  [x] z  t  evidence fedcba987654, from the ledger\n\
            result\n  amount  400\n  id      R-1\n\
            used 2 plans, 1 action\nreport /w/tasks/a/output/report.md\n";
        assert_eq!(
            of(&report.to_string(), Path::new("/w/tasks/a"), Look::plain()),
            expected
        );
    }
}
