//! The plans of a task with their steps, as lines; shared by the live display, `status` and the checkpoint's answer.

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

/// Two lines for a plan with one step: the plan, and below it the step. `running` is the mark of a step in flight.
pub(super) fn lines(
    plan_version: u32,
    steps: &[StepLine],
    look: Look,
    running: &str,
) -> Vec<String> {
    let width = steps
        .iter()
        .map(|step| escaped(&step.id).chars().count())
        .max()
        .unwrap_or(0);
    let mut lines = Vec::new();
    for version in 1..=plan_version {
        let of_plan = || steps.iter().filter(move |step| step.version == version);
        let name = format!("plan {version}");
        lines.push(
            match of_plan().find(|step| step.state == StepState::Failed) {
                Some(failed) => format!(
                    "{}  {}",
                    look.strong(&name),
                    look.faint(&format!("given up at {}", escaped(&failed.id)))
                ),
                None => look.strong(&name),
            },
        );
        for step in of_plan() {
            let mark = if step.state == StepState::Running {
                running.to_owned()
            } else {
                look.mark(step.state)
            };
            // The tool's name tells more than an id only where they differ.
            let tool = if step.tool == step.id {
                String::new()
            } else {
                look.faint(&escaped(&step.tool))
            };
            let line = format!("  {mark} {:width$}  {tool}", escaped(&step.id));
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
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
        let lines = lines(2, &steps, Look::plain(), "[|]");
        let expected = [
            "plan 1  given up at long",
            "  [x] a",
            "  [!] long    tool-b",
            "plan 2",
            "  [|] b\\u{7}  tool-c",
        ];
        assert_eq!(lines, expected);
    }
}
