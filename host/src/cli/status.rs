//! `wharf status`: what the journal knows.

use std::path::Path;

use serde::Serialize;
use wharf::{
    Error,
    host::{self, TaskStatus},
    words::clock::{Clock as _, SystemClock},
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::LookArgs,
    durations,
    error::CliError,
    escape::escaped,
    look::Look,
    step_list::{self, StepLine},
};

/// Tells of the task that is named, or of all.
pub(super) fn run(session: &Session, arguments: &LookArgs) -> Result<Reply, Error> {
    let directory = &arguments.dir;
    let now = SystemClock.now();
    let tasks = match &arguments.task {
        Some(task) => vec![task.clone()],
        None => host::tasks(directory)?,
    };
    if tasks.is_empty() {
        return Err(CliError::NoTask {
            directory: directory.clone(),
        }
        .into());
    }
    let tasks: Result<Vec<_>, Error> = tasks
        .iter()
        .map(|task| host::status(directory, task, now))
        .collect();
    Reply::answer(
        &StatusAnswer {
            workspace: directory,
            tasks: &tasks?,
        },
        session,
    )
}

#[derive(Serialize)]
struct StatusAnswer<'a> {
    workspace: &'a Path,
    tasks: &'a [TaskStatus],
}

impl Answer for StatusAnswer<'_> {
    fn text(&self, look: Look) -> String {
        let mut text = String::new();
        for (index, task) in self.tasks.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            for line in lines(task, look) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }
}

/// A task for people.
pub(super) fn lines(task: &TaskStatus, look: Look) -> Vec<String> {
    let view = &task.view;
    let heading = look.strong(&format!("task {}", task.task));
    let status = look.status(view.status);
    let reason = match view.stop_reason {
        Some(reason) if reason != view.status => format!(" ({reason})"),
        _ => String::new(),
    };
    let stage = match view.stage {
        "done" => String::new(),
        stage => format!(", in stage {stage}"),
    };
    let mut lines = vec![format!("{heading}  {status}{reason}{stage}")];
    lines.push(format!("  {}", escaped(&task.goal)));
    let steps: Vec<StepLine> = view.steps.iter().map(StepLine::from).collect();
    let running = look.mark(wharf::core::view::StepState::Running);
    lines.extend(
        step_list::plans(view.plan_version, &steps, look, &running)
            .into_iter()
            .map(|line| format!("  {line}")),
    );
    let usage = &view.usage;
    let left = task
        .time_left_ms
        .map(|left| format!(", time left {}", durations::clock(left)))
        .unwrap_or_default();
    let budgets = format!(
        "plans {}/{}, actions {}/{}{left}",
        usage.model_calls, usage.max_plans, usage.action_calls, usage.max_actions
    );
    lines.push(format!("  {}", look.faint(&budgets)));
    lines.push(format!(
        "  {}",
        look.faint(&escaped(&task.directory.display().to_string()))
    ));
    lines
}
