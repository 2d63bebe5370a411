//! What the tools for tasks do: each is a call of the library, and its answer is what the command line prints as JSON.

use std::sync::Arc;

use rmcp::{RoleServer, service::RequestContext};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use wharf::{
    Cancellation, Checkpoint, Error, Outcome, Progress, ProgressBody, Request, RunOptions, Task,
    TaskId,
    host::{self, RunDocument, StatusDocument, TaskStatus},
    words::clock::{Clock as _, SystemClock},
};

use super::{
    edge::Edge,
    error::McpError,
    progress::{self, Teller},
    result,
    runs::{Run, RunTold},
    task_tools::{CancelArguments, ResumeArguments, RunArguments, StatusArguments, TaskTool},
};

/// Answers a call of one of these tools.
pub(super) async fn call(
    edge: &Edge,
    tool: TaskTool,
    arguments: Value,
    context: &RequestContext<RoleServer>,
) -> Result<Value, Error> {
    match tool {
        TaskTool::Run => run(edge, read(tool, arguments)?, context).await,
        TaskTool::Status => status(edge.clone(), read(tool, arguments)?).await,
        TaskTool::Resume => {
            let ResumeArguments { task, wait } = read(tool, arguments)?;
            drive(edge, Task::Saved(task), None, wait, context).await
        }
        TaskTool::Cancel => cancel(edge, read(tool, arguments)?).await,
    }
}

fn read<T: DeserializeOwned>(tool: TaskTool, arguments: Value) -> Result<T, Error> {
    serde_json::from_value(arguments).map_err(|source| {
        let tool = tool.name();
        McpError::Arguments { tool, source }.into()
    })
}

async fn run(
    edge: &Edge,
    arguments: RunArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Value, Error> {
    let request = Request::read(&arguments.request.to_string())?;
    let components = Arc::clone(&edge.components);
    let digest = request.plugin.digest;
    let component = blocking(move || components.find(&digest)).await?;
    let stop_after = arguments.stop_after.map(Checkpoint::from);
    let task = Task::new(request, component);
    drive(edge, task, stop_after, arguments.wait, context).await
}

/// Begins a run, and answers for it when it has ended, or at once.
async fn drive(
    edge: &Edge,
    task: Task,
    stop_after: Option<Checkpoint>,
    wait: bool,
    context: &RequestContext<RoleServer>,
) -> Result<Value, Error> {
    let id = task.id().clone();
    let (teller, listener) = progress::of_call(context);
    let begin = |cancellation: Cancellation| {
        let mut options = RunOptions::default();
        options.cancellation = cancellation;
        options.stop_after = stop_after;
        options.progress = wait.then(|| sink(teller));
        let (host, pattern) = (edge.host.clone(), edge.pattern.clone());
        async move { host.run(&pattern, task, options).await }
    };
    let run = edge.runs.begin(&id, begin)?;
    if !wait {
        return result::value(&RunTold::new(id, "running"));
    }
    let end = listener.hear(ended(run, context)).await?;
    let edge = edge.clone();
    blocking(move || answer(&edge, id, &end)).await
}

/// Waits for a run; a client that no longer waits cancels it.
async fn ended(run: Run, context: &RequestContext<RoleServer>) -> Result<Outcome, Error> {
    let Run {
        cancellation,
        mut end,
    } = run;
    let end = tokio::select! {
        end = &mut end => end,
        () = context.ct.cancelled() => {
            cancellation.cancel();
            end.await
        }
    };
    end.unwrap_or_else(|_| Err(McpError::BrokeOff.into()))
}

fn answer(edge: &Edge, task: TaskId, end: &Outcome) -> Result<Value, Error> {
    let workspace = edge.host.directory();
    match end {
        Outcome::Finished(finished) => {
            let document = RunDocument::finished(workspace, &task, finished)
                .map_err(|source| McpError::Answer { source })?;
            result::value(&document)
        }
        Outcome::Checkpoint(checkpoint) => {
            let status = host::status(workspace, &task, SystemClock.now())?;
            result::value(&RunDocument::checkpoint(workspace, &status, *checkpoint))
        }
        _ => result::value(&RunTold::new(task, "cancelled")),
    }
}

fn sink(teller: Teller) -> Arc<dyn Fn(Progress) + Send + Sync> {
    Arc::new(move |progress| {
        if let ProgressBody::Record { view, .. } = &progress.body {
            teller.tell(progress::line(view));
        }
    })
}

#[derive(Serialize)]
struct StatusAnswer<'a> {
    #[serde(flatten)]
    status: StatusDocument<'a>,
    runs: Vec<RunTold>,
}

async fn status(edge: Edge, StatusArguments { task }: StatusArguments) -> Result<Value, Error> {
    blocking(move || {
        let runs = edge.runs.told(task.as_ref());
        let workspace = edge.host.directory();
        let tasks = match statuses(&edge, task.as_ref()) {
            // Its admission has not come that far, or has failed.
            Err(error) if error.code() == "no-task" && (task.is_none() || !runs.is_empty()) => {
                Vec::new()
            }
            other => other?,
        };
        result::value(&StatusAnswer {
            status: StatusDocument {
                workspace,
                tasks: &tasks,
            },
            runs,
        })
    })
    .await
}

fn statuses(edge: &Edge, task: Option<&TaskId>) -> Result<Vec<TaskStatus>, Error> {
    let workspace = edge.host.directory();
    let now = SystemClock.now();
    let tasks = match task {
        Some(task) => vec![task.clone()],
        None => host::tasks(workspace)?,
    };
    tasks
        .iter()
        .map(|task| host::status(workspace, task, now))
        .collect()
}

async fn cancel(edge: &Edge, CancelArguments { task }: CancelArguments) -> Result<Value, Error> {
    match edge.runs.cancel(&task).await {
        Some(end) => result::value(&end),
        None => Err(McpError::NotRunning { task }.into()),
    }
}

/// Off the threads that hear the clients.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(McpError::BrokeOff.into()))
}
