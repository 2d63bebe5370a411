//! Retention: finished tasks are removed when they are old enough. What they did stays: the ledger rows, the plugins' tables, and
//! a tombstone by which an audit knows that the task was removed and did not get lost.
//!
//! Nothing is removed that could not be resumed as finished: a task that is unfinished, damaged, or in somebody's hands stays.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use serde::Serialize;

use super::{agent, opening, preflight, run::RunError, stores};
use crate::{
    business::{BusinessStore, SqlLimits},
    core::{
        machine::{Loop, Machine},
        ports::{
            business::{Business as _, LedgerRow},
            journal::{Journal as _, Position},
        },
        task_request::TaskRequest,
    },
    sqlite::open::BUSY,
    technologies::{
        admission, durable_folder,
        journal::SqliteJournal,
        task_lock::{TaskLock, TaskLockError},
        tombstones::Tombstone,
        workspace::Workspace,
    },
    words::{
        digest::Digest,
        error::{Error, Kind},
        id::TaskId,
    },
};

/// What became of the tasks of a workspace.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GcReport {
    /// The workspace, as an absolute path.
    pub workspace: PathBuf,
    /// Tasks that were finished before this moment are removed.
    pub before: Timestamp,
    /// Those, in order of admission.
    pub removed: Vec<RemovedTask>,
    /// How many stayed.
    pub kept: KeptTasks,
    /// Those that an audit should look at; they stay.
    pub damaged: Vec<DamagedTask>,
}

/// A task that was removed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemovedTask {
    /// The task.
    pub task: TaskId,
    /// The fingerprint of its request.
    pub fingerprint: Digest,
    /// How it had ended.
    pub status: String,
    /// When.
    pub finished_at: Timestamp,
}

/// How many tasks stay, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KeptTasks {
    /// The last record is too young, finished or not.
    pub recent: usize,
    /// Not finished, although the last record is old.
    pub unfinished: usize,
    /// In the hands of a runner.
    pub owned: usize,
}

/// A task that is not what was recorded.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DamagedTask {
    /// The task.
    pub task: TaskId,
    /// The code of what is wrong with it.
    pub code: String,
}

/// Removes the tasks of a workspace whose last record was made before a moment: journal and folder. Each is gone durably, with
/// its tombstone, when this returns. Runs of other tasks go on meanwhile.
///
/// # Errors
/// `no-task` if the directory is no workspace; a database that cannot be read or written; a folder that cannot be removed. What
/// was removed until then stays removed, and the same call goes on.
pub fn gc(directory: &Path, before: Timestamp, now: Timestamp) -> Result<GcReport, Error> {
    let workspace = Workspace::open(directory)?;
    let mut report = GcReport {
        workspace: workspace.root().to_owned(),
        before,
        removed: Vec::new(),
        kept: KeptTasks::default(),
        damaged: Vec::new(),
    };
    let Some(tenant) = stores::tenant_of(&workspace)? else {
        return Ok(report);
    };
    let collector = Collector {
        business: BusinessStore::open_read_only(
            &workspace.business_database(),
            &tenant,
            SqlLimits::standard(),
        )?,
        journal: SqliteJournal::open(&workspace.memory_database(), BUSY, now)?,
        workspace,
        before,
        now,
    };
    collector.finish_removals()?;
    for task in collector.journal.tasks()? {
        match collector.task(&task) {
            Ok(Verdict::Removed(removed)) => report.removed.push(removed),
            Ok(Verdict::Recent) => report.kept.recent += 1,
            Ok(Verdict::Unfinished) => report.kept.unfinished += 1,
            Ok(Verdict::Owned) => report.kept.owned += 1,
            Err(error) if error.kind() == Kind::Corrupt => report.damaged.push(DamagedTask {
                task,
                code: error.code().to_owned(),
            }),
            Err(error) => return Err(error),
        }
    }
    Ok(report)
}

/// What tells the ledger rows of a removed task from any others.
pub(super) fn digest_of(rows: &[LedgerRow]) -> Digest {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!([
                row.plugin,
                row.subject,
                row.key.as_str(),
                row.principal,
                row.fingerprint,
                row.input_digest,
                row.tool,
                row.arguments_digest,
                row.data.as_str(),
                row.sequence,
                row.at,
            ])
        })
        .collect();
    Digest::of(serde_json::Value::from(rows).to_string())
}

struct Collector {
    workspace: Workspace,
    business: BusinessStore,
    journal: SqliteJournal,
    before: Timestamp,
    now: Timestamp,
}

enum Verdict {
    Removed(RemovedTask),
    Recent,
    Unfinished,
    Owned,
}

/// How a finished task stands.
struct Ended {
    status: &'static str,
    position: Position,
    fuel: u64,
}

impl Collector {
    fn task(&self, task: &TaskId) -> Result<Verdict, Error> {
        // A task that may still be run is not even locked.
        match self.journal.last_at(task)? {
            Some(at) if at >= self.before => return Ok(Verdict::Recent),
            Some(_) => (),
            // Somebody else has removed it meanwhile.
            None => return Ok(Verdict::Owned),
        }
        let folder = self.workspace.task_folder(task);
        if !folder.exists() {
            return match self.journal.tombstone(task)? {
                Some(_) => Ok(Verdict::Owned),
                None => Err(RunError::RequestMissing { task: task.clone() }.into()),
            };
        }
        let lock = match TaskLock::acquire(&folder) {
            Ok(lock) => lock,
            Err(TaskLockError::Owned { .. }) => return Ok(Verdict::Owned),
            Err(error) => return Err(error.into()),
        };
        let stored = self.journal.load(task)?;
        let Some(last) = stored.last() else {
            // Or between the look and the lock.
            return Ok(Verdict::Owned);
        };
        let request = admission::stored(&self.workspace, task)?
            .ok_or_else(|| RunError::RequestMissing { task: task.clone() })?;
        preflight::check_request(request.acting(), &stored)?;
        let fingerprint = request.acting().fingerprint;
        let ended = match request {
            TaskRequest::PlanExecute(request) => {
                ended(&opening::fold(&Arc::from(request), &stored)?)
            }
            TaskRequest::Agent(request) => ended(&agent::fold(&Arc::from(request), &stored)?),
        };
        let Some(ended) = ended else {
            return Ok(Verdict::Unfinished);
        };
        let rows = self.business.rows_of(task)?;
        match self.business.anchor_of(task)? {
            Some(anchor) if anchor == ended.position => (),
            Some(anchor) => {
                preflight::check_anchor(task, anchor, &stored)?;
                // A resume adds the last anchor.
                return Ok(Verdict::Unfinished);
            }
            None => return Ok(Verdict::Unfinished),
        }
        if last.at >= self.before {
            // It was run before the lock was taken.
            return Ok(Verdict::Recent);
        }
        let stone = Tombstone {
            task: task.clone(),
            fingerprint,
            status: ended.status.to_owned(),
            position: ended.position,
            ledger: digest_of(&rows),
            fuel: ended.fuel,
            finished_at: last.at,
            removed_at: self.now,
        };
        self.journal.bury(&stone)?;
        self.remove_folder(task, &lock)?;
        Ok(Verdict::Removed(RemovedTask {
            task: stone.task,
            fingerprint: stone.fingerprint,
            status: stone.status,
            finished_at: stone.finished_at,
        }))
    }

    /// Removes the folders that a killed call left behind.
    fn finish_removals(&self) -> Result<(), Error> {
        // By its name: what is removed first may be the request.
        let names = durable_folder::names(&self.workspace.tasks_folder())?.unwrap_or_default();
        for task in names.into_iter().flat_map(TaskId::try_from) {
            if self.journal.tombstone(&task)?.is_none() {
                continue;
            }
            match TaskLock::acquire(&self.workspace.task_folder(&task)) {
                Ok(lock) => self.remove_folder(&task, &lock)?,
                // Somebody else is at it.
                Err(TaskLockError::Owned { .. }) => (),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whoever waits for the lock finds the tombstone when it gets it.
    fn remove_folder(&self, task: &TaskId, _lock: &TaskLock) -> Result<(), Error> {
        durable_folder::remove(&self.workspace.task_folder(task))?;
        Ok(durable_folder::sync(&self.workspace.tasks_folder())?)
    }
}

fn ended<L: Loop>(machine: &Machine<L>) -> Option<Ended> {
    machine.is_done().then(|| Ended {
        status: machine.view().status,
        position: machine.position(),
        fuel: machine.calls().total().fuel.unwrap_or(0),
    })
}
