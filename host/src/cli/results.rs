//! The answers of a run: a report, a checkpoint, or the notice that it was cancelled.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use wharf::{
    Checkpoint, Error, TaskId,
    core::agent::state::WaitingCall,
    host::{self, Finished, RunDocument, TaskStatus},
};

use super::{
    Session,
    answer::{Answer, Reply},
    error::CliError,
    escape::{escaped, shell_word},
    exit::Exit,
    look::Look,
    status, summary,
};

/// Which task, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The workspace, as an absolute path.
    pub(super) workspace: &'a Path,
    /// The task.
    pub(super) task: &'a TaskId,
}

impl Place<'_> {
    /// The command that goes on with it.
    fn resume(self) -> String {
        self.command("resume")
    }

    /// The command that decides about a call that waits, and about no other.
    pub(super) fn decision(self, name: &str, call: &WaitingCall) -> String {
        format!("{} --call {}", self.command(name), call.digest)
    }

    /// A command about it.
    pub(super) fn command(self, name: &str) -> String {
        format!(
            "wharf {name} --dir {} --task {}",
            shell_word(&self.workspace.to_string_lossy()),
            self.task
        )
    }
}

/// The task is finished.
pub(super) fn finished(
    session: &Session,
    place: Place<'_>,
    finished: &Finished,
) -> Result<Reply, Error> {
    let document = RunDocument::finished(place.workspace, place.task, finished)
        .map_err(|source| CliError::Json { source })?;
    Reply::answer(&FinishedAnswer { document, finished }, session)
}

/// The run stopped where it was asked to.
pub(super) fn checkpoint(
    session: &Session,
    place: Place<'_>,
    checkpoint: Checkpoint,
    now: Timestamp,
) -> Result<Reply, Error> {
    let status = host::status(place.workspace, place.task, now)?;
    Reply::answer(
        &CheckpointAnswer {
            document: RunDocument::checkpoint(place.workspace, &status, checkpoint),
            checkpoint,
            resume: place.resume(),
            status: &status,
        },
        session,
    )
}

/// The run was cancelled.
pub(super) fn cancelled(session: &Session, place: Place<'_>) -> Reply {
    let what = session.stderr.warn("cancelled");
    // A run that was cancelled before it was admitted leaves nothing to go on with.
    let admitted = host::tasks(place.workspace).is_ok_and(|tasks| tasks.contains(place.task));
    let (why, fix) = if admitted {
        (
            "a signal asked for it; the task is saved as it stands and can be resumed",
            place.resume(),
        )
    } else {
        (
            "a signal asked for it; the task was not admitted yet",
            "give the same command again".into(),
        )
    };
    Reply::notice(
        format!(
            "{what}: task {}\n  why: {why}\n  fix: {}\n",
            place.task,
            escaped(&fix)
        ),
        Exit::Cancelled,
    )
}

#[derive(Serialize)]
#[serde(transparent)]
struct FinishedAnswer<'a> {
    document: RunDocument<'a>,
    #[serde(skip)]
    finished: &'a Finished,
}

impl Answer for FinishedAnswer<'_> {
    fn text(&self, look: Look) -> String {
        summary::of(&self.finished.report, &self.finished.directory, look)
    }

    fn exit(&self) -> Exit {
        Exit::of_status(self.finished.status)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct CheckpointAnswer<'a> {
    document: RunDocument<'a>,
    #[serde(skip)]
    checkpoint: Checkpoint,
    #[serde(skip)]
    resume: String,
    #[serde(skip)]
    status: &'a TaskStatus,
}

impl Answer for CheckpointAnswer<'_> {
    fn text(&self, look: Look) -> String {
        let reached = match self.checkpoint {
            Checkpoint::Plan => "a plan was accepted, nothing of it has begun",
            Checkpoint::Step => "one step was completed",
            Checkpoint::Report => "the report is durable, nothing is published yet",
            _ => "as asked",
        };
        let mut text = format!("{}: {reached}\n", look.warn("stopped"));
        for line in status::lines(self.status, look) {
            text += &format!("{line}\n");
        }
        text + &format!("go on with: {}\n", escaped(&self.resume))
    }

    fn exit(&self) -> Exit {
        Exit::Checkpoint
    }
}
