//! Plans with their steps as lines, for the live display, `status`, and the answers of a run.

use console::measure_text_width;
use wharf::core::view::{StepState, StepView};

use super::{escape::escaped, look::Look};

/// One step of an accepted plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepLine {
    pub(super) version: u32,
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) state: StepState,
}

impl From<&StepView> for StepLine {
    fn from(step: &StepView) -> Self {
        Self {
            version: step.version,
            id: step.id.clone(),
            tool: step.tool.clone(),
            state: step.state,
        }
    }
}

/// Each plan, and below it its steps. `running` is the mark of a step in flight.
pub(super) fn plans(newest: u32, steps: &[StepLine], look: Look, running: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for version in 1..=newest {
        let of_plan = || steps.iter().filter(move |step| step.version == version);
        let given_up = of_plan()
            .find(|step| step.state == StepState::Failed)
            .map(|failed| look.faint(&format!("  given up at {}", escaped(&failed.id))));
        let name = look.strong(&format!("plan {version}"));
        lines.push(format!("{name}{}", given_up.unwrap_or_default()));
        let rows = of_plan().map(|step| Row {
            mark: match step.state {
                StepState::Running => running.to_owned(),
                state => look.mark(state),
            },
            id: &step.id,
            tool: &step.tool,
            note: String::new(),
        });
        lines.extend(table(&rows.collect::<Vec<_>>(), look));
    }
    lines
}

/// A step in a table. Only the mark and the note may hold escape codes.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) mark: String,
    pub(super) id: &'a str,
    pub(super) tool: &'a str,
    pub(super) note: String,
}

/// The rows in columns, indented.
pub(super) fn table(rows: &[Row<'_>], look: Look) -> Vec<String> {
    let widest = |column: fn(&Row<'_>) -> String| {
        let widths = rows.iter().map(|row| measure_text_width(&column(row)));
        widths.max().unwrap_or(0)
    };
    let (ids, tools) = (widest(id), widest(tool));
    let line = |row: &Row<'_>| {
        let id = padded(id(row), ids);
        let tool = look.faint(&padded(tool(row), tools));
        let line = format!("  {} {id}  {tool}  {}", row.mark, row.note);
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn id(row: &Row<'_>) -> String {
    escaped(row.id)
}

/// The tool's name tells more than the id only where they differ.
fn tool(row: &Row<'_>) -> String {
    if row.tool == row.id {
        String::new()
    } else {
        escaped(row.tool)
    }
}

fn padded(text: String, width: usize) -> String {
    let missing = width.saturating_sub(measure_text_width(&text));
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_stands_above_its_steps() {
        let step = |version, id: &str, tool: &str, state| StepLine {
            version,
            id: id.into(),
            tool: tool.into(),
            state,
        };
        let steps = [
            step(1, "a", "a", StepState::Completed),
            step(1, "long", "tool-b", StepState::Failed),
            step(2, "b\u{7}", "tool-c", StepState::Running),
        ];
        let expected = [
            "plan 1  given up at long",
            "  [x] a",
            "  [!] long  tool-b",
            "plan 2",
            "  [|] b\\u{7}  tool-c",
        ];
        assert_eq!(plans(2, &steps, Look::plain(), "[|]"), expected);
    }

    #[test]
    fn columns_are_as_wide_as_they_look() {
        let row = |id, tool, note: &str| Row {
            mark: "-".into(),
            id,
            tool,
            note: note.into(),
        };
        let rows = [row("包装", "x", "n1"), row("abcde", "yy", "n2")];
        assert_eq!(
            table(&rows, Look::plain()),
            ["  - 包装   x   n1", "  - abcde  yy  n2"]
        );
    }
}
