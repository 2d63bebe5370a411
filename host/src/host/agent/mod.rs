//! Agents: what one is, and how its tasks are run.

mod decide;
mod opening;
mod plugin_tools;
mod run;

use std::{path::PathBuf, sync::Arc};

use tokio::runtime::Handle;

pub(super) use self::opening::fold;
use self::plugin_tools::PluginTools;
use super::{blocking, builder::Host, task::RunOptions};
use crate::{
    core::{
        agent::{request::AgentRequest, state::WaitingCall, stop::AgentStop},
        plan_execute::stop::Status,
        ports::agent_model::AgentModel,
        request::Request,
        tools::{ToolBody, ToolDescriptor, Toolbox},
    },
    words::{
        error::Error,
        id::{PrincipalId, TaskId},
    },
};

/// An agent: a model and what it may call. Not part of a request: another run of the same task may use another model.
#[derive(Clone)]
pub struct Agent {
    instructions: String,
    model: Arc<dyn AgentModel>,
    tools: Toolbox,
    plugins: Vec<Arc<PluginTools>>,
}

impl Agent {
    /// Adds a tool that this agent alone has.
    ///
    /// # Errors
    /// As [`Toolbox::register_tool`].
    pub fn register_tool(
        mut self,
        descriptor: ToolDescriptor,
        body: ToolBody,
    ) -> Result<Self, Error> {
        self.tools.register_tool(descriptor, body)?;
        Ok(self)
    }

    /// Adds the tools of a plugin, bound to one request of its domain: each call is a business transaction with a ledger row of the
    /// agent's task, and happens once whatever crashes. The request's own id, principal and budgets are not used.
    ///
    /// # Errors
    /// The component is not the one that the request names, or cannot be loaded; a tool's name is taken.
    pub fn register_plugin(
        mut self,
        host: &Host,
        request: Request,
        component: impl Into<Arc<[u8]>>,
    ) -> Result<Self, Error> {
        let plugin = PluginTools::load(host, request, component.into())?;
        plugin.register(&mut self.tools)?;
        self.plugins.push(Arc::new(plugin));
        Ok(self)
    }

    /// Leaves only the tools of these names.
    ///
    /// # Errors
    /// A name that no tool has.
    pub fn only(mut self, names: &[String]) -> Result<Self, Error> {
        self.tools = self.tools.only(names)?;
        Ok(self)
    }

    /// With instructions of its own, behind the runtime's. A task keeps those that it was admitted with.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = text.into();
        self
    }

    /// What its model is told of.
    pub fn tools(&self) -> impl Iterator<Item = &ToolDescriptor> {
        self.tools.descriptors()
    }
}

/// A task of an agent.
#[derive(Clone)]
pub enum AgentTask {
    /// Admit this one, or go on with it if it was admitted before.
    New(Box<AgentRequest>),
    /// Go on with a saved one.
    Saved(TaskId),
}

impl AgentTask {
    /// This one.
    #[must_use]
    pub fn new(request: AgentRequest) -> Self {
        Self::New(Box::new(request))
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &TaskId {
        match self {
            Self::New(request) => &request.fields.id,
            Self::Saved(id) => id,
        }
    }
}

/// How a run of an agent ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AgentOutcome {
    /// The task is finished; the report stands in its folder.
    Finished(AgentFinished),
    /// A person has to decide about this call, with [`Host::decide`]; then the task can be run again.
    Waiting(WaitingCall),
    /// Cancelled; nothing has an effect any more, and the task can be resumed.
    Cancelled,
}

/// A finished task of an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentFinished {
    /// Completed or partial.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: AgentStop,
    /// The model's answer, if it gave one.
    pub answer: Option<String>,
    /// The text of `report.json`.
    pub report: String,
    /// The task's folder.
    pub directory: PathBuf,
}

impl Host {
    /// An agent with this model and all tools of the host.
    #[must_use]
    pub fn make_agent(&self, model: Arc<dyn AgentModel>) -> Agent {
        Agent {
            instructions: String::new(),
            model,
            tools: self.toolbox().clone(),
            plugins: Vec::new(),
        }
    }

    /// Runs an agent's task until it is finished, waits for a person, is cancelled or failed. Whatever ends it, what is durable
    /// stays, and the task can be run again; a finished task answers with its report and calls nobody.
    ///
    /// # Errors
    /// Kind `invalid-input`: the request is wrong; nothing was written. Any other kind: the task stays as it is and can be
    /// resumed.
    pub async fn run_agent(
        &self,
        agent: &Agent,
        task: AgentTask,
        options: RunOptions,
    ) -> Result<AgentOutcome, Error> {
        let (host, agent, runtime) = (self.clone(), agent.clone(), Handle::current());
        blocking::run(move || run::run(&host, &agent, task, options, runtime)).await
    }

    /// Decides about the call that a task waits with: approved, it is made by the next run; denied, the model is told. Durable when
    /// this returns. With `call`, only about the call of that digest.
    ///
    /// # Errors
    /// There is no such task, it runs elsewhere, nothing waits in it (`nothing-waits`), or another call does (`other-call`).
    pub fn decide(
        &self,
        task: &TaskId,
        approved: bool,
        by: PrincipalId,
        call: Option<crate::words::digest::Digest>,
    ) -> Result<WaitingCall, Error> {
        decide::decide(self, task, approved, by, call)
    }
}
