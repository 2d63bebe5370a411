//! One run of an agent's task: drive, anchor, answer.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::{
    super::{builder::Host, run as outputs, task::RunOptions, workspace_context::WorkspaceContext},
    Agent, AgentFinished, AgentOutcome, AgentTask,
    opening::{self, Opened},
};
use crate::{
    core::{
        agent::workers::AgentPorts,
        cancel::{Cancel, Halt},
        driver::{Driver, RunEnd},
        machine::Loop as _,
        ports::{business::Business as _, context::Context},
    },
    words::error::Error,
};

pub(super) fn run(
    host: &Host,
    agent: &Agent,
    task: AgentTask,
    options: RunOptions,
    runtime: Handle,
) -> Result<AgentOutcome, Error> {
    let cancel = Cancel::new(options.cancellation.clone(), runtime);
    let mut opened = opening::open(host, &task, agent)?;
    if opened.machine.is_done() {
        let outputs = opened.machine.state().publication().unwrap_or_default();
        let (id, position) = (&opened.request.fields.id, opened.machine.position());
        outputs::publish_again(&opened.stores, id, position, &outputs)?;
        return finished(&opened);
    }
    let context: Arc<dyn Context> = Arc::new(WorkspaceContext::new(
        opened.stores.business.workspace(),
        host.context(),
    ));
    let burnt = opened.machine.calls().total().fuel.unwrap_or(0);
    let meter = host.meter(burnt, Some(&opened.stores));
    let fields = &opened.request.fields;
    let mut tools = agent.tools.clone().restricted(&fields.ask, &fields.deny)?;
    for plugin in &agent.plugins {
        plugin.bind(&mut tools, host, &opened.stores, &meter)?;
    }
    let ports = AgentPorts {
        model: Arc::clone(&agent.model),
        tools,
        memories: host.memories(&opened.stores),
        context: Arc::clone(&context),
        business: opened.stores.business.clone(),
        permission: opened.stores.permission.clone(),
        archive: opened.stores.archive.clone(),
    };
    let scope = opened.machine.state().scope();
    // A Context that does not answer ends the run before it has done anything.
    match cancel.wait(context.load(&scope)) {
        Ok(_) => (),
        Err(Halt::Cancelled) => return Ok(AgentOutcome::Cancelled),
        Err(Halt::Failed(error)) => return Err(error),
    }
    let workers = ports.workers();
    let clock = host.clock();
    let driver = Driver {
        task: opened.request.fields.id.clone(),
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
    match (end, opened.machine.state().waiting()) {
        (RunEnd::Done, _) => {
            // The last record is durable; with its anchor the task is acknowledged as finished.
            let position = opened.machine.position();
            let task = &opened.request.fields.id;
            opened.stores.business.anchor(task, &position)?;
            finished(&opened)
        }
        (RunEnd::Waiting, Some(call)) => Ok(AgentOutcome::Waiting(call)),
        _ => Ok(AgentOutcome::Cancelled),
    }
}

fn finished(opened: &Opened) -> Result<AgentOutcome, Error> {
    let state = opened.machine.state();
    let task = &opened.request.fields.id;
    let report = outputs::report_of(&state.publication().unwrap_or_default());
    match (state.stop_reason(), report) {
        (Some(stop_reason), Some(report)) => Ok(AgentOutcome::Finished(AgentFinished {
            status: stop_reason.status(),
            stop_reason,
            answer: state.answer().map(str::to_owned),
            report,
            directory: opened.stores.workspace.task_folder(task),
        })),
        _ => Err(outputs::RunError::ReportMissing { task: task.clone() }.into()),
    }
}
