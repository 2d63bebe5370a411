//! `wharf approve` and `wharf deny`: a person's decision about the call that an agent's task waits with.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use wharf::{
    Digest, Error, HostBuilder, TaskId,
    core::agent::state::WaitingCall,
    host,
    words::{
        clock::{Clock as _, SystemClock},
        id::PrincipalId,
    },
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::directory,
    error::CliError,
    escape::escaped,
    look::Look,
    results::Place,
};

/// Arguments of `approve` and `deny`.
#[derive(Debug, Args)]
pub(super) struct DecideArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    dir: PathBuf,
    /// The task; default: the newest that waits.
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// The digest of the call, as `wharf status` shows it: another call is then not decided about.
    #[arg(long, value_name = "DIGEST")]
    call: Option<Digest>,
    /// Who decides; kept in the journal.
    #[arg(long, value_name = "NAME", default_value = "operator")]
    by: PrincipalId,
}

/// Approves or denies. What was decided is durable; the next `wharf resume` goes on with it.
pub(super) fn run(
    session: &Session,
    arguments: &DecideArgs,
    decision: Decision,
) -> Result<Reply, Error> {
    let task = match &arguments.task {
        Some(task) => task.clone(),
        None => waiting(&arguments.dir)?,
    };
    let host = HostBuilder::new(&arguments.dir).build()?;
    let approved = decision == Decision::Approve;
    let call = host.decide(&task, approved, arguments.by.clone(), arguments.call)?;
    let place = Place {
        workspace: &arguments.dir,
        task: &task,
    };
    let answer = DecidedAnswer {
        workspace: &arguments.dir,
        task: &task,
        approved,
        call: &call,
        place,
    };
    Reply::answer(&answer, session)
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Approve,
    Deny,
}

/// The newest task that waits.
fn waiting(directory: &Path) -> Result<TaskId, Error> {
    let now = SystemClock.now();
    for task in host::tasks(directory)?.into_iter().rev() {
        if host::status(directory, &task, now)?.view.status == "waiting" {
            return Ok(task);
        }
    }
    Err(CliError::NothingWaits {
        directory: directory.to_owned(),
    }
    .into())
}

#[derive(Serialize)]
struct DecidedAnswer<'a> {
    workspace: &'a Path,
    task: &'a TaskId,
    approved: bool,
    call: &'a WaitingCall,
    #[serde(skip)]
    place: Place<'a>,
}

impl Answer for DecidedAnswer<'_> {
    fn text(&self, look: Look) -> String {
        let verb = if self.approved { "approved" } else { "denied" };
        format!(
            "{}: {} {}\ngo on with: {} --planner ...\n",
            look.strong(verb),
            escaped(&self.call.tool),
            escaped(&self.call.arguments),
            escaped(&self.place.command("resume")),
        )
    }
}
