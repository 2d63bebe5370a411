//! The tools of a host: those over the memory, which the runtime brings, and the application's own.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use tokio::runtime::Handle;

use super::{
    blocking,
    builder::{Host, HostBuilder},
    status::status,
    stores::Stores,
};
use crate::{
    core::{
        cancel::{Cancel, Cancellation, Halt},
        ports::memories::SharedMemories,
        tools::{
            ToolBody, ToolDescriptor, ToolError, Toolbox,
            calling::CallSite,
            memory_tools::memory_tools,
            plans::{PlanRules, TaskView},
        },
    },
    schema::ToolSchemas,
    words::{
        clock::Clock,
        error::{Error, Facts, Fault, Kind},
    },
};

/// One call of a tool outside of any task.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRequest {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// Who calls; kept as the source of what it writes.
    pub caller: String,
}

/// Hears how far a call is. Called on the thread that makes it: return quickly.
pub type ToolProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// How to make it.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ToolOptions {
    /// Interrupts it.
    pub cancellation: Cancellation,
    /// Who wants to know how far it is.
    pub progress: Option<ToolProgress>,
}

/// On which memory the tools of a host work.
#[derive(Clone)]
pub(super) enum MemoryChoice {
    /// That of the workspace, whose changes share their commits with the journal.
    Workspace,
    /// One of the application's.
    Other(SharedMemories),
    /// None.
    None,
}

impl HostBuilder {
    /// Keeps what agents remember elsewhere than in the workspace. A tool that was changing it when the process died is reported to
    /// the model as unknown: only the workspace's own memory shares its commits with the journal.
    #[must_use]
    pub fn memory(mut self, memories: SharedMemories) -> Self {
        self.memory = MemoryChoice::Other(memories);
        self
    }

    /// Without a memory: the tools over it answer `no-memory-service`.
    #[must_use]
    pub fn without_memory(mut self) -> Self {
        self.memory = MemoryChoice::None;
        self
    }

    /// Adds a tool of the application's own.
    #[must_use]
    pub fn register_tool(mut self, descriptor: ToolDescriptor, body: ToolBody) -> Self {
        self.tools.push((descriptor, body));
        self
    }
}

impl Host {
    /// What the tools say of themselves, those over the memory first.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolDescriptor> {
        self.toolbox().descriptors().cloned().collect()
    }

    /// Calls a tool outside of any task. What it writes is durable when this returns. The workspace is made if need be.
    ///
    /// # Errors
    /// The workspace cannot be opened, its memory fails, or the call was cancelled. What the tool itself refuses is the inner
    /// error.
    pub async fn call_tool(
        &self,
        request: ToolRequest,
        options: ToolOptions,
    ) -> Result<Result<Value, ToolError>, Error> {
        let (host, runtime) = (self.clone(), Handle::current());
        blocking::run(move || call(&host, &request, &options, runtime)).await
    }

    /// The memory that tools work on; none: the runtime has none.
    pub(super) fn memories(&self, stores: &Stores) -> Option<SharedMemories> {
        match self.memory_choice() {
            MemoryChoice::Workspace => Some(stores.memories.clone()),
            MemoryChoice::Other(memories) => Some(Arc::clone(memories)),
            MemoryChoice::None => None,
        }
    }
}

/// The tools over the memory and the application's own.
pub(super) fn toolbox(
    own: Vec<(ToolDescriptor, ToolBody)>,
    rules: PlanRules,
    memory: &MemoryChoice,
    tasks: TaskView,
) -> Result<Toolbox, Error> {
    let toolbox = Toolbox::new(Arc::new(ToolSchemas));
    let mut toolbox = match memory {
        MemoryChoice::Other(_) => toolbox.over_separate_memory(),
        MemoryChoice::Workspace | MemoryChoice::None => toolbox,
    };
    for (descriptor, body) in memory_tools(rules, Some(tasks)).into_iter().chain(own) {
        toolbox.register_tool(descriptor, body)?;
    }
    Ok(toolbox)
}

fn call(
    host: &Host,
    request: &ToolRequest,
    options: &ToolOptions,
    runtime: Handle,
) -> Result<Result<Value, ToolError>, Error> {
    let stores = host.stores_of_tenant()?;
    let memories = host.memories(&stores);
    let cancel = Cancel::new(options.cancellation.clone(), runtime);
    let progress = |text: &str| {
        if let Some(told) = &options.progress {
            told(text);
        }
    };
    let site = CallSite {
        caller: &request.caller,
        at: host.clock().now(),
        cancel: &cancel,
        memories: memories.as_deref().map(|memories| memories as _),
        intent: None,
        progress: &progress,
        approved: false,
    };
    match host
        .toolbox()
        .call(&request.name, &request.arguments, &site)
    {
        Ok(called) => Ok(called.result),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::Cancelled) => Err(ToolCancelled.into()),
    }
}

/// Shows how tasks of a workspace stand. Reads on a connection of its own.
pub(super) fn task_view(directory: PathBuf, clock: Arc<dyn Clock>) -> TaskView {
    Arc::new(move |task| match status(&directory, task, clock.now()) {
        Ok(status) => Ok(Some(status.view)),
        Err(error) if matches!(error.code(), "no-task" | "task-removed") => Ok(None),
        Err(error) => Err(error),
    })
}

/// A tool's call was cancelled.
#[derive(Debug, thiserror::Error)]
#[error("the tool's call was cancelled")]
struct ToolCancelled;

impl Fault for ToolCancelled {
    fn facts(&self) -> Facts {
        Facts::new(
            "tool-cancelled",
            Kind::Unavailable,
            "call it again; a tool over the memory has had no effect unless it had ended",
        )
    }
}
