//! One frame of the live display: the stages, the plans with their steps, time and budgets.

use jiff::Timestamp;
use wharf::core::view::StepState;

use super::{
    super::{durations, look::Look, step_list},
    scene::Scene,
};

/// Everything that a frame depends on.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) task: &'a str,
    /// None: the task is being loaded.
    pub(super) scene: Option<&'a Scene>,
    /// Characters of the model's answer so far.
    pub(super) answered: usize,
    pub(super) cancelling: bool,
    /// Nothing moves any more.
    pub(super) ended: bool,
    /// When this run began.
    pub(super) begun: Timestamp,
    pub(super) now: Timestamp,
}

impl Frame<'_> {
    /// Its lines.
    pub(super) fn lines(&self, look: Look) -> Vec<String> {
        let elapsed = self.millis_since(self.begun);
        let running = if self.ended {
            look.mark(StepState::Running)
        } else {
            look.spinner(elapsed)
        };
        let mut lines = vec![self.heading(look, elapsed)];
        match self.scene {
            None => lines.push(format!("{running} load")),
            Some(scene) => {
                lines.extend(step_list::plans(
                    scene.plan_version,
                    &scene.steps,
                    look,
                    &running,
                ));
                lines.extend(self.stages(scene, look, &running));
                lines.push(look.faint(&self.budgets(scene)));
            }
        }
        if self.cancelling && !self.ended {
            lines.push(
                look.warn("cancelling: what is running ends first; once more leaves at once"),
            );
        }
        lines
    }

    fn heading(&self, look: Look, elapsed: i64) -> String {
        let status = match self.scene {
            _ if self.ended && self.scene.is_none_or(|scene| scene.stop_reason.is_none()) => look
                .warn(if self.cancelling {
                    "cancelled"
                } else {
                    "stopped"
                }),
            None => String::new(),
            Some(scene) => match scene.stop_reason {
                Some(reason) if reason != scene.status => {
                    format!("{} ({reason})", look.status(scene.status))
                }
                _ => look.status(scene.status),
            },
        };
        let heading = format!(
            "{}  {}  {status}",
            look.strong(&format!("task {}", self.task)),
            durations::clock(elapsed)
        );
        heading.trim_end().to_owned()
    }

    /// The stage that is running, where it is none of a step, and those to come.
    fn stages(&self, scene: &Scene, look: Look, running: &str) -> Vec<String> {
        let attempt = scene.plans.0.max(1);
        let now = match scene.stage {
            "snapshot" => vec!["snapshot".to_owned()],
            "plan" if self.answered > 0 => vec![format!(
                "plan, attempt {attempt}: {} characters",
                self.answered
            )],
            "plan" => vec![format!("plan, attempt {attempt}")],
            _ => vec![],
        };
        let ends = ["conclude", "publish"];
        let at = match scene.stage {
            "conclude" => 0,
            "publish" => 1,
            "done" => 2,
            _ => usize::MAX,
        };
        let end = |(index, name): (usize, &&str)| {
            // Only a verified result is concluded; other tasks go straight to publishing.
            let skipped = *name == "conclude"
                && scene
                    .stop_reason
                    .is_some_and(|reason| !matches!(reason, "completed" | "conclusion-refused"));
            let mark = match at {
                _ if skipped => look.mark(StepState::Superseded),
                _ if at == index => running.to_owned(),
                usize::MAX => look.mark(StepState::Pending),
                at if at > index => look.mark(StepState::Completed),
                _ => look.mark(StepState::Pending),
            };
            format!("{mark} {name}")
        };
        let now = now.into_iter().map(|name| format!("{running} {name}"));
        now.chain(ends.iter().enumerate().map(end)).collect()
    }

    fn budgets(&self, scene: &Scene) -> String {
        let ((plans, max_plans), (actions, max_actions)) = (scene.plans, scene.actions);
        let budgets = format!("plans {plans}/{max_plans}, actions {actions}/{max_actions}");
        match scene.deadline_at {
            Some(deadline) if scene.stop_reason.is_none() => {
                let left = i64::try_from(deadline.duration_since(self.now).as_millis())
                    .unwrap_or(i64::MAX);
                format!("{budgets}, time left {}", durations::clock(left))
            }
            _ => budgets,
        }
    }

    fn millis_since(&self, then: Timestamp) -> i64 {
        i64::try_from(self.now.duration_since(then).as_millis()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::step_list::StepLine, *};

    fn frame(scene: &Scene, ended: bool) -> String {
        let at = |second| Timestamp::from_second(second).expect("a time");
        Frame {
            task: "t",
            scene: Some(scene),
            answered: 0,
            cancelling: false,
            ended,
            begun: at(0),
            now: at(4),
        }
        .lines(Look::plain())
        .join("\n")
    }

    fn step(version: u32, id: &str, state: StepState) -> StepLine {
        StepLine {
            version,
            id: id.into(),
            tool: id.into(),
            state,
        }
    }

    #[test]
    fn a_running_step_and_what_is_to_come_are_seen() {
        let scene = Scene {
            stage: "step",
            plan_version: 2,
            steps: vec![
                step(1, "a", StepState::Completed),
                step(1, "b", StepState::Failed),
                step(2, "c", StepState::Running),
                step(2, "d", StepState::Pending),
            ],
            plans: (2, 3),
            actions: (3, 12),
            ..Scene::begun()
        };
        let expected = "task t  0:04  running\n\
            plan 1  given up at b\n  [x] a\n  [!] b\n\
            plan 2\n  [|] c\n  [ ] d\n\
            [ ] conclude\n[ ] publish\n\
            plans 2/3, actions 3/12, time left 9:56";
        assert_eq!(frame(&scene, false), expected);
    }

    #[test]
    fn the_last_frame_of_a_finished_task_has_nothing_open() {
        let scene = Scene {
            stage: "done",
            status: "completed",
            stop_reason: Some("completed"),
            plan_version: 1,
            steps: vec![step(1, "a", StepState::Completed)],
            plans: (1, 3),
            actions: (1, 12),
            ..Scene::begun()
        };
        let expected = "task t  0:04  completed\nplan 1\n  [x] a\n[x] conclude\n[x] publish\nplans 1/3, actions 1/12";
        assert_eq!(frame(&scene, true), expected);
    }

    #[test]
    fn a_task_that_stopped_early_concludes_nothing() {
        let scene = Scene {
            stage: "done",
            status: "partial",
            stop_reason: Some("deadline"),
            ..Scene::begun()
        };
        assert_eq!(
            frame(&scene, true),
            "task t  0:04  partial (deadline)\n[-] conclude\n[x] publish\nplans 0/3, actions 0/12"
        );
    }
}
