//! `wharf status`: what the journal knows.

use wharf::{
    Error,
    core::metering::CallTotals,
    host::{self, StatusDocument, TaskStatus},
    words::clock::{Clock as _, SystemClock},
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::LookArgs,
    durations,
    error::CliError,
    escape::{escaped, excerpt},
    look::Look,
    step_list::{self, StepLine},
};

/// The most of a goal that is shown to people; a prompt may be long.
const GOAL_BYTES: usize = 400;

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
        &StatusDocument {
            workspace: directory,
            tasks: &tasks?,
        },
        session,
    )
}

impl Answer for StatusDocument<'_> {
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

/// What the plugin's calls used, in one line; none: it was not called.
fn calls(total: &CallTotals) -> Option<String> {
    if total.calls == 0 {
        return None;
    }
    let millis = |micros: u64| micros.div_ceil(1000);
    let mut parts = vec![
        format!(
            "plugin calls {} in {} ms",
            total.calls,
            millis(total.micros)
        ),
        format!("memory {} KiB", total.memory_bytes.div_ceil(1024)),
        format!("host calls {}", total.host_calls),
        format!(
            "SQL {} rows in {} ms",
            total.sql_rows,
            millis(total.sql_micros)
        ),
    ];
    parts.extend((total.faults > 0).then(|| format!("faults {}", total.faults)));
    parts.extend(total.fuel.map(|fuel| format!("fuel {fuel}")));
    Some(parts.join(", "))
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
    lines.push(format!("  {}", excerpt(&task.goal, GOAL_BYTES)));
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
    let invalid = match usage.max_invalid_plans {
        0 => String::new(),
        allowed => format!(", invalid {}/{allowed}", usage.invalid_plans),
    };
    let (asked, acted) = match &view.agent {
        Some(_) => ("turns", "tool calls"),
        None => ("plans", "actions"),
    };
    let budgets = format!(
        "{asked} {}/{}{invalid}, {acted} {}/{}{left}",
        usage.model_calls, usage.max_plans, usage.action_calls, usage.max_actions
    );
    lines.push(format!("  {}", look.faint(&budgets)));
    if let Some(tokens) = &view.tokens {
        let tokens = format!(
            "tokens {} asked, {} answered",
            tokens.prompt_tokens, tokens.completion_tokens
        );
        lines.push(format!("  {}", look.faint(&tokens)));
    }
    if let Some(call) = view.agent.as_ref().and_then(|agent| agent.waiting.as_ref()) {
        let (tool, arguments) = (escaped(&call.tool), escaped(&call.arguments));
        lines.push(format!("  waits for a decision about {tool} {arguments}"));
        lines.push(format!(
            "  {}",
            look.faint(&format!("call {}", call.digest))
        ));
    }
    if let Some(moment) = view.retry_at {
        let wait = format!("the model failed; it is asked again at {moment}");
        lines.push(format!("  {}", look.faint(&wait)));
    }
    if let Some(calls) = calls(&view.calls.total()) {
        lines.push(format!("  {}", look.faint(&calls)));
    }
    lines.push(format!(
        "  {}",
        look.faint(&escaped(&task.directory.display().to_string()))
    ));
    lines
}
