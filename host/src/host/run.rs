//! One run of an opened task: drive, anchor, answer.
//!
//! Runs on one blocking thread from beginning to end; only waiting for a model or a Context goes through the runtime.

use std::{path::PathBuf, sync::Arc};

use tokio::runtime::Handle;

use super::{
    builder::Host,
    opening::{self, Opened},
    stores::Stores,
    task::{Finished, Outcome, PlanExecute, Planner, RunOptions, Task},
    workspace_context::WorkspaceContext,
};
use crate::{
    core::{
        cancel::{Cancel, Halt},
        driver::{Driver, RunEnd},
        machine::Loop as _,
        plan_execute::{
            operations::{Content, Output},
            report::{REPORT_JSON, REPORT_MARKDOWN},
            workers::Ports,
        },
        ports::{
            archive::{Archive as _, FileState},
            business::Business as _,
            context::Context,
            domain::Domain,
            journal::{Journal as _, Position},
            model::Model,
        },
    },
    plugin::Plugin,
    technologies::{faults_file::Faults, search_planner::SearchPlanner, tombstones::Tombstone},
    words::{
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

pub(super) fn run(
    host: &Host,
    pattern: &PlanExecute,
    task: Task,
    options: RunOptions,
    runtime: Handle,
) -> Result<Outcome, Error> {
    let cancel = Cancel::new(options.cancellation.clone(), runtime);
    let mut opened = opening::open(host, &task)?;
    let Some(plugin) = opened.plugin.clone() else {
        return finish(&opened);
    };
    let context = WorkspaceContext::new(opened.stores.business.workspace(), host.context());
    let context: Arc<dyn Context> = Arc::new(context);
    let burnt = opened.machine.calls().total().fuel.unwrap_or(0);
    let meter = host.meter(burnt, Some(&opened.stores));
    meter.adopt(std::mem::take(&mut opened.calls));
    let plugin = Arc::new(plugin.metered(Arc::clone(&meter)));
    let workers = ports(pattern, &opened, plugin, Arc::clone(&context))?.workers();
    if let Err(halt) = probe_context(&*context, &opened, &cancel) {
        return match halt {
            Halt::Cancelled => Ok(Outcome::Cancelled),
            Halt::Failed(error) => Err(error),
        };
    }
    let clock = host.clock();
    let driver = Driver {
        task: opened.request.id.clone(),
        run: opened.run,
        journal: &*opened.stores.journal,
        workers: &workers,
        meter: &meter,
        clock: &*clock,
        cancel: &cancel,
        stop_after: options.stop_after,
        progress: options.progress,
    };
    let end = driver.drive(&mut opened.machine, opened.first.clone())?;
    match end {
        // This Loop waits for nobody.
        RunEnd::Cancelled | RunEnd::Waiting => Ok(Outcome::Cancelled),
        RunEnd::Checkpoint(checkpoint) => Ok(Outcome::Checkpoint(checkpoint)),
        RunEnd::Done => {
            // The last record is durable; with its anchor the task is acknowledged as finished.
            opened
                .stores
                .business
                .anchor(&opened.request.id, &opened.machine.position())?;
            finished(&opened)
        }
    }
}

fn ports(
    pattern: &PlanExecute,
    opened: &Opened,
    plugin: Arc<Plugin>,
    context: Arc<dyn Context>,
) -> Result<Ports, Error> {
    let stores = &opened.stores;
    let domain: Arc<dyn Domain> = plugin;
    let model: Arc<dyn Model> = match &pattern.planner {
        Planner::Search => Arc::new(SearchPlanner::new(Arc::clone(&domain))),
        Planner::Model(model) => Arc::clone(model),
    };
    let faults = Faults::read(&stores.workspace.faults_file(&opened.request.id))?;
    Ok(Ports {
        domain,
        business: stores.business.clone(),
        context,
        model,
        permission: stores.permission.clone(),
        archive: stores.archive.clone(),
        lose_response_of: faults.map(|faults| faults.lose_response_of),
    })
}

/// A Context that does not answer ends the run before it has done anything.
fn probe_context(context: &dyn Context, opened: &Opened, cancel: &Cancel) -> Result<(), Halt> {
    cancel
        .wait(context.load(&opened.machine.state().scope()))
        .map(drop)
}

/// A finished task is a snapshot: outputs that were lost are written again, and nothing else happens.
fn finish(opened: &Opened) -> Result<Outcome, Error> {
    let outputs = opened.machine.state().publication().unwrap_or_default();
    let position = opened.machine.position();
    publish_again(&opened.stores, &opened.request.id, position, &outputs)?;
    finished(opened)
}

/// Adds the last anchor of a finished task if it is missing, and writes outputs again that were lost.
pub(super) fn publish_again(
    stores: &Stores,
    task: &TaskId,
    position: Position,
    outputs: &[Output],
) -> Result<(), Error> {
    if stores.business.anchor_of(task)? != Some(position) {
        stores.journal.settle()?;
        stores.business.anchor(task, &position)?;
    }
    let files: Result<Vec<_>, _> = outputs.iter().map(Output::file).collect();
    let files = files.map_err(|_| RunError::ReportMissing { task: task.clone() })?;
    for file in &files {
        let state = stores.archive.inspect_output(task, file)?;
        if matches!(state, FileState::Absent | FileState::Torn) {
            tracing::warn!(%task, output = file.name, "an output was lost or torn and is written again");
        }
    }
    stores.archive.publish(task, &files)
}

/// The text of `report.json` among a task's outputs.
pub(super) fn report_of(outputs: &[Output]) -> Option<String> {
    text_of(outputs, REPORT_JSON)
}

fn text_of(outputs: &[Output], name: &str) -> Option<String> {
    let output = outputs.iter().find(|output| output.name == name)?;
    match &output.content {
        Content::Text(text) => Some(text.clone()),
        Content::Base64(_) => None,
    }
}

fn finished(opened: &Opened) -> Result<Outcome, Error> {
    let state = opened.machine.state();
    let outputs = state.publication().unwrap_or_default();
    match (
        state.stop_reason(),
        report_of(&outputs),
        text_of(&outputs, REPORT_MARKDOWN),
    ) {
        (Some(stop_reason), Some(report), Some(report_markdown)) => {
            Ok(Outcome::Finished(Finished {
                status: stop_reason.status(),
                stop_reason,
                report,
                report_markdown,
                directory: opened.stores.workspace.task_folder(&opened.request.id),
            }))
        }
        _ => Err(RunError::ReportMissing {
            task: opened.request.id.clone(),
        }
        .into()),
    }
}

/// Why a task cannot be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// There is no such task.
    #[error("the workspace has no task `{task}`")]
    UnknownTask {
        /// The task.
        task: TaskId,
    },
    /// The task was finished and removed.
    #[error("the task `{}` was removed at {}", stone.task, stone.removed_at)]
    Removed {
        /// What is left of it.
        stone: Box<Tombstone>,
    },
    /// The request of an admitted task is gone.
    #[error("the request of task `{task}` is missing")]
    RequestMissing {
        /// The task.
        task: TaskId,
    },
    /// The business database is not that of a workspace.
    #[error("the workspace {} has no tenant", directory.display())]
    TenantMissing {
        /// The workspace.
        directory: PathBuf,
    },
    /// A finished task without a report.
    #[error("the journal of task `{task}` is finished, but holds no report")]
    ReportMissing {
        /// The task.
        task: TaskId,
    },
}

impl RunError {
    /// Of a task that is no more.
    pub(super) fn removed(stone: Tombstone) -> Self {
        Self::Removed {
            stone: Box::new(stone),
        }
    }
}

impl Fault for RunError {
    fn why(&self) -> Option<String> {
        match self {
            Self::Removed { stone } => Some(format!(
                "it had ended as {} at {}, and `wharf gc` removes such tasks",
                stone.status, stone.finished_at
            )),
            _ => None,
        }
    }

    fn facts(&self) -> Facts {
        match self {
            Self::UnknownTask { .. } => Facts::new(
                "no-task",
                Kind::InvalidInput,
                "`wharf status` lists the tasks of a workspace",
            ),
            Self::Removed { .. } => Facts::new(
                "task-removed",
                Kind::Conflict,
                "what it did stands in the ledger; give a new task another id",
            ),
            Self::RequestMissing { .. } => Facts::new(
                "request-missing",
                Kind::Corrupt,
                "restore request.json from a backup",
            ),
            Self::TenantMissing { .. } => Facts::new(
                "no-tenant",
                Kind::Corrupt,
                "restore business.sqlite from a backup",
            ),
            Self::ReportMissing { .. } => Facts::new(
                "no-report",
                Kind::Corrupt,
                "restore memory.sqlite from a backup",
            ),
        }
    }
}
