//! What edges tell of runs and tasks, as JSON documents: the same words on every edge.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{status::TaskStatus, task::Finished};
use crate::{core::machine::Checkpoint, words::id::TaskId};

/// How a run ended: `{"workspace","task","directory","report"}`, or with `checkpoint` in the place of the report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDocument<'a> {
    workspace: &'a Path,
    task: &'a TaskId,
    directory: &'a PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Checkpoint>,
}

impl<'a> RunDocument<'a> {
    /// The task is finished. The workspace is an absolute path.
    ///
    /// # Errors
    /// The report is not JSON, which a broken promise alone can bring about.
    pub fn finished(
        workspace: &'a Path,
        task: &'a TaskId,
        finished: &'a Finished,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            workspace,
            task,
            directory: &finished.directory,
            report: Some(serde_json::from_str(&finished.report)?),
            checkpoint: None,
        })
    }

    /// The run stopped where it was asked to, and the task stands as `status` says.
    #[must_use]
    pub fn checkpoint(workspace: &'a Path, status: &'a TaskStatus, checkpoint: Checkpoint) -> Self {
        Self {
            workspace,
            task: &status.task,
            directory: &status.directory,
            report: None,
            checkpoint: Some(checkpoint),
        }
    }
}

/// What the journal knows: `{"workspace","tasks"}`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusDocument<'a> {
    /// The workspace, as an absolute path.
    pub workspace: &'a Path,
    /// Its tasks, in order of admission, or the one that was asked for.
    pub tasks: &'a [TaskStatus],
}
