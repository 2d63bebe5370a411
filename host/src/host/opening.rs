//! From a task that is asked for to one whose lock is held, whose journal is folded and whose state is verified.

use std::sync::Arc;

use super::{
    admission::{self, Admitted},
    builder::Host,
    preflight,
    run::RunError,
    stores::Stores,
    task::{NewTask, Task},
};
use crate::{
    core::{
        chain::Event,
        machine::Machine,
        metering::CallUse,
        plan_execute::state::TaskState,
        ports::{
            business::Business as _,
            journal::{Journal as _, StoredRecord},
        },
        request::Request,
    },
    plugin::Plugin,
    technologies::{admission::stored_request, task_lock::TaskLock},
    words::{
        error::Error,
        id::{RunId, TaskId},
    },
};

/// A task whose lock is held, ready to go on.
pub(super) struct Opened {
    pub(super) stores: Arc<Stores>,
    pub(super) request: Arc<Request>,
    pub(super) machine: Machine<TaskState>,
    /// None: the task is finished and needs no plugin.
    pub(super) plugin: Option<Arc<Plugin>>,
    /// The record that the run begins with.
    pub(super) first: Event,
    /// What the plugin's calls have used that came before the run.
    pub(super) calls: Vec<CallUse>,
    pub(super) run: RunId,
    _lock: TaskLock,
}

/// Opens a task, admitting it if it is new.
///
/// The lock comes before the databases, so that a second runner is refused at once, whatever the first one holds.
pub(super) fn open(host: &Host, task: &Task) -> Result<Opened, Error> {
    let id = task.id();
    let lock = host.lock_existing(id)?;
    let known = match (&lock, host.existing_stores()?) {
        (Some(_), Some(stores)) if !stores.journal.load(id)?.is_empty() => Some(stores),
        _ => None,
    };
    match (task, lock, known) {
        (Task::Saved(_), Some(lock), Some(stores)) => open_saved(host, stores, lock, id),
        (Task::Saved(_), ..) => {
            if let Some(stores) = host.existing_stores()? {
                if !stores.journal.load(id)?.is_empty() {
                    return Err(RunError::RequestMissing { task: id.clone() }.into());
                }
                refuse_lost_journal(&stores, id)?;
            }
            Err(RunError::UnknownTask { task: id.clone() }.into())
        }
        (Task::New(new), Some(lock), Some(stores)) => {
            let opened = open_saved(host, stores, lock, id)?;
            admission::check_same(host, &opened.request, new)?;
            Ok(opened)
        }
        (Task::New(new), lock, _) => open_new(host, new, lock),
    }
}

/// Folds a journal whose chain begins with the request.
pub(super) fn fold(
    request: &Arc<Request>,
    stored: &[StoredRecord],
) -> Result<Machine<TaskState>, Error> {
    Machine::new(TaskState::new(Arc::clone(request)), request.fingerprint()).fold(stored)
}

fn open_new(host: &Host, new: &NewTask, lock: Option<TaskLock>) -> Result<Opened, Error> {
    let existing = host.existing_stores()?;
    let checked = admission::check(host, new, existing.as_deref())?;
    if let (Some(stores), Some(_)) = (existing, &new.seed) {
        stores.refuse_seed()?;
    }
    let stores = host.stores_for(&new.request.tenant)?;
    let id = &new.request.id;
    let lock = match lock {
        Some(lock) => lock,
        None => stores.workspace.claim(id)?,
    };
    if !stores.journal.load(id)?.is_empty() {
        // Another process admitted it between the look and the lock.
        let opened = open_saved(host, stores, lock, id)?;
        admission::check_same(host, &opened.request, new)?;
        return Ok(opened);
    }
    refuse_lost_journal(&stores, id)?;
    let now = host.clock().now();
    let Admitted {
        request,
        plugin,
        first,
        calls,
    } = admission::admit(&stores, &lock, new, checked, now)?;
    Ok(Opened {
        machine: fold(&request, &[])?,
        stores,
        request,
        plugin: Some(plugin),
        first,
        calls,
        run: RunId::beginning_at(now),
        _lock: lock,
    })
}

fn open_saved(
    host: &Host,
    stores: Arc<Stores>,
    lock: TaskLock,
    task: &TaskId,
) -> Result<Opened, Error> {
    stores.workspace.sweep(&lock)?;
    let stored = stores.journal.load(task)?;
    let request = stored_request(&stores.workspace, task)?
        .ok_or_else(|| RunError::RequestMissing { task: task.clone() })?;
    preflight::check_request(request.acting(), &stored)?;
    let request = Arc::new(request);
    let machine = fold(&request, &stored)?;
    let component = preflight::verify(&stores, &request, &machine, &stored)?;
    let plugin = if machine.is_done() {
        None
    } else {
        Some(host.plugin(component, &request.plugin)?)
    };
    let run = RunId::beginning_at(host.clock().now());
    Ok(Opened {
        stores,
        machine,
        request,
        plugin,
        first: Event::Resumed { run },
        calls: Vec::new(),
        run,
        _lock: lock,
    })
}

/// A task without records was never admitted, unless it was removed or the business database knows better.
pub(super) fn refuse_lost_journal(stores: &Stores, task: &TaskId) -> Result<(), Error> {
    if let Some(stone) = stores.journal.tombstone(task)? {
        return Err(RunError::removed(stone).into());
    }
    match stores.business.anchor_of(task)? {
        Some(anchor) => Ok(preflight::check_anchor(task, anchor, &[])?),
        None => Ok(()),
    }
}
