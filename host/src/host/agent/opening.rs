//! From an agent's task that is asked for to one whose lock is held, whose journal is folded and whose state is verified.

use std::sync::Arc;

use super::{
    super::{
        builder::Host, opening::refuse_lost_journal, preflight, run::RunError, stores::Stores,
    },
    Agent, AgentTask,
};
use crate::{
    core::{
        agent::{request::AgentRequest, state::AgentState},
        chain::Event,
        machine::Machine,
        ports::{
            business::Business as _,
            journal::{Journal as _, StoredRecord},
        },
        task_request::TaskRequest,
    },
    technologies::{
        admission::{self, AdmissionError, RequestFiles},
        task_lock::TaskLock,
    },
    words::{
        error::Error,
        id::{RunId, TaskId},
    },
};

/// A task whose lock is held, ready to go on.
pub(super) struct Opened {
    pub(super) stores: Arc<Stores>,
    pub(super) request: Arc<AgentRequest>,
    pub(super) machine: Machine<AgentState>,
    /// The record that the run begins with.
    pub(super) first: Event,
    pub(super) run: RunId,
    _lock: TaskLock,
}

/// Opens a task, admitting it if it is new.
pub(super) fn open(host: &Host, task: &AgentTask, agent: &Agent) -> Result<Opened, Error> {
    let id = task.id();
    let lock = host.lock_existing(id)?;
    let known = match (&lock, host.existing_stores()?) {
        (Some(_), Some(stores)) if !stores.journal.load(id)?.is_empty() => Some(stores),
        _ => None,
    };
    match (task, lock, known) {
        (AgentTask::Saved(_), Some(lock), Some(stores)) => open_saved(host, stores, lock, id),
        (AgentTask::Saved(_), ..) => {
            if let Some(stores) = host.existing_stores()? {
                refuse_lost_journal(&stores, id)?;
            }
            Err(RunError::UnknownTask { task: id.clone() }.into())
        }
        (AgentTask::New(request), Some(lock), Some(stores)) => {
            let opened = open_saved(host, stores, lock, id)?;
            check_same(&opened, request)?;
            Ok(opened)
        }
        (AgentTask::New(request), lock, _) => open_new(host, request, agent, lock),
    }
}

/// Opens an admitted task under its lock.
pub(super) fn open_saved(
    host: &Host,
    stores: Arc<Stores>,
    lock: TaskLock,
    task: &TaskId,
) -> Result<Opened, Error> {
    stores.workspace.sweep(&lock)?;
    let stored = stores.journal.load(task)?;
    let request = Arc::new(stored_request(&stores, task)?);
    preflight::check_request(request.acting(), &stored)?;
    let machine = fold(&request, &stored)?;
    stores.permission.check(request.acting(), None)?;
    let anchor = stores.business.anchor_of(task)?;
    if let Some(anchor) = anchor {
        preflight::check_anchor(task, anchor, &stored)?;
    }
    let rows = stores.business.rows_of(task)?;
    preflight::check_rows_are_anchored(task, anchor, &rows, &stored)?;
    let run = RunId::beginning_at(host.clock().now());
    Ok(Opened {
        stores,
        request,
        machine,
        first: Event::Resumed { run },
        run,
        _lock: lock,
    })
}

/// Folds a journal whose chain begins with the request.
pub(in crate::host) fn fold(
    request: &Arc<AgentRequest>,
    stored: &[StoredRecord],
) -> Result<Machine<AgentState>, Error> {
    Machine::new(AgentState::new(Arc::clone(request)), request.fingerprint()).fold(stored)
}

fn open_new(
    host: &Host,
    request: &AgentRequest,
    agent: &Agent,
    lock: Option<TaskLock>,
) -> Result<Opened, Error> {
    // A name that no tool has is found before anything is written.
    let (id, fields) = (&request.fields.id, &request.fields);
    agent.tools.clone().restricted(&fields.ask, &fields.deny)?;
    let stores = host.stores_for(&request.fields.tenant)?;
    let lock = match lock {
        Some(lock) => lock,
        None => stores.workspace.claim(id)?,
    };
    if !stores.journal.load(id)?.is_empty() {
        // Another process admitted it between the look and the lock.
        let opened = open_saved(host, stores, lock, id)?;
        check_same(&opened, request)?;
        return Ok(opened);
    }
    refuse_lost_journal(&stores, id)?;
    let files = RequestFiles {
        acting: request.acting(),
        text: request.text(),
        principals: std::slice::from_ref(&request.fields.principal),
    };
    files.admit(&stores.workspace, &lock)?;
    stores.permission.check(request.acting(), None)?;
    let request = Arc::new(request.clone());
    Ok(Opened {
        machine: fold(&request, &[])?,
        stores,
        first: AgentState::admission(&request, &agent.instructions),
        run: RunId::beginning_at(host.clock().now()),
        request,
        _lock: lock,
    })
}

fn stored_request(stores: &Stores, task: &TaskId) -> Result<AgentRequest, Error> {
    match admission::stored(&stores.workspace, task)? {
        Some(TaskRequest::Agent(request)) => Ok(*request),
        Some(TaskRequest::PlanExecute(_)) => {
            Err(AdmissionError::OtherPattern { task: task.clone() }.into())
        }
        None => Err(RunError::RequestMissing { task: task.clone() }.into()),
    }
}

fn check_same(opened: &Opened, request: &AgentRequest) -> Result<(), Error> {
    if opened.request.fingerprint() == request.fingerprint() {
        return Ok(());
    }
    let task = request.fields.id.clone();
    Err(AdmissionError::TaskChanged { task }.into())
}
