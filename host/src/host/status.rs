//! What the journal knows of a task. Reads only, disturbs nobody, needs no plugin.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use serde::Serialize;

use super::{agent, opening::fold, preflight::check_request, run::RunError, stores::journal_of};
use crate::{
    core::{ports::journal::Journal as _, task_request::TaskRequest, view::View},
    technologies::{admission, workspace::Workspace},
    words::{error::Error, id::TaskId},
};

/// A task as its journal knows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskStatus {
    /// The task.
    pub task: TaskId,
    /// What was asked.
    pub goal: String,
    /// Where it stands.
    #[serde(flatten)]
    pub view: View,
    /// Milliseconds until no plan or action is admitted any more; none: it has stopped.
    pub time_left_ms: Option<i64>,
    /// The task's folder.
    pub directory: PathBuf,
}

/// The tasks of a workspace, in order of admission.
///
/// # Errors
/// `no-task` if the directory is no workspace; a journal that cannot be read.
pub fn tasks(directory: &Path) -> Result<Vec<TaskId>, Error> {
    let workspace = Workspace::open(directory)?;
    journal_of(&workspace)?.map_or_else(|| Ok(Vec::new()), |journal| journal.tasks())
}

/// Folds a task's journal.
///
/// # Errors
/// `no-task` if there is none; a journal or request that is damaged.
pub fn status(directory: &Path, task: &TaskId, now: Timestamp) -> Result<TaskStatus, Error> {
    let workspace = Workspace::open(directory)?;
    let journal = journal_of(&workspace)?;
    let stored = journal
        .as_ref()
        .map_or_else(|| Ok(Vec::new()), |journal| journal.load(task))?;
    if stored.is_empty() {
        if let Some(stone) = journal.map_or(Ok(None), |journal| journal.tombstone(task))? {
            return Err(RunError::removed(stone).into());
        }
        return Err(RunError::UnknownTask { task: task.clone() }.into());
    }
    let request = admission::stored(&workspace, task)?
        .ok_or_else(|| RunError::RequestMissing { task: task.clone() })?;
    check_request(request.acting(), &stored)?;
    let goal = request.goal().to_owned();
    let view = match request {
        TaskRequest::PlanExecute(request) => fold(&Arc::from(request), &stored)?.view(),
        TaskRequest::Agent(request) => agent::fold(&Arc::from(request), &stored)?.view(),
    };
    // As for a run, a clock that was set back gives no time away.
    let now = view.started_at.map_or(now, |started| now.max(started));
    let time_left_ms = match (view.stop_reason, view.deadline_at) {
        (None, Some(deadline)) => Some(
            i64::try_from(deadline.duration_since(now).as_millis())
                .unwrap_or(i64::MAX)
                .max(0),
        ),
        _ => None,
    };
    Ok(TaskStatus {
        task: task.clone(),
        goal,
        view,
        time_left_ms,
        directory: workspace.task_folder(task),
    })
}
