//! The Workers of an agent: what each kind of node does in the world.

mod infer;
mod interaction;
mod memory;

use std::sync::Arc;

use serde_json::Value;

use self::{infer::InferWorker, interaction::InteractionWorker, memory::MemoryWorker};
use super::{
    operations::{Calling, ToolOutcome},
    state::{AgentState, digest_of},
};
use crate::{
    core::{
        cancel::Halt,
        context_worker::ContextWorker,
        node_values::to_value,
        ports::{
            agent_model::AgentModel,
            archive::Archive,
            business::Business,
            context::Context,
            memories::{Memories, SharedMemories},
            permission::Permission,
        },
        tools::{Intent, ToolError, Toolbox, calling::CallSite, toolbox::arguments_of},
        worker::{Moment, Workers, Yield},
    },
    words::error::{Facts, Fault, Kind},
};

/// What the Workers of one agent's task stand on.
#[derive(Clone)]
pub struct AgentPorts {
    /// The model.
    pub model: Arc<dyn AgentModel>,
    /// What it may call.
    pub tools: Toolbox,
    /// The memory, for reads, and for writes of a memory that does not share the journal's commits; none: there is none.
    pub memories: Option<SharedMemories>,
    /// The working set.
    pub context: Arc<dyn Context>,
    /// The business database, for tools with a ledger row.
    pub business: Arc<dyn Business>,
    /// The policy.
    pub permission: Arc<dyn Permission>,
    /// Outputs.
    pub archive: Arc<dyn Archive>,
}

impl AgentPorts {
    /// The Workers of one task.
    #[must_use]
    pub fn workers(self) -> Workers<AgentState> {
        Workers {
            context: Box::new(ContextWorker {
                context: Arc::clone(&self.context),
            }),
            memory: Box::new(MemoryWorker {
                ports: self.clone(),
            }),
            infer: Box::new(InferWorker {
                model: Arc::clone(&self.model),
                tools: self.tools.descriptors().cloned().collect(),
            }),
            interaction: Box::new(InteractionWorker { ports: self }),
        }
    }

    /// Makes one call, for whichever node.
    fn call(
        &self,
        calling: &Calling,
        memories: Option<&dyn Memories>,
        at: &Moment<'_, AgentState>,
    ) -> Result<Yield, Halt> {
        let request = at.state.request();
        let name = calling.call.name.as_str();
        self.permission.check(request.acting(), Some(name))?;
        if digest_of(&calling.call) != calling.digest {
            return Err(OtherCall.into());
        }
        let arguments = match arguments_of(&calling.call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(told(at, Err(error), false)),
        };
        let progress = |message: &str| (at.tool_progress)(name, message);
        let site = CallSite {
            caller: request.fields.agent.as_str(),
            at: at.intended_at,
            cancel: at.cancel,
            memories,
            intent: Some(Intent {
                task: &request.fields.id,
                principal: &request.fields.principal,
                position: at.intent,
                at: at.intended_at,
            }),
            progress: &progress,
            approved: calling.approved,
        };
        let called = self.tools.call(name, &arguments, &site)?;
        Ok(told(at, called.result, called.undo))
    }
}

fn told(at: &Moment<'_, AgentState>, result: Result<Value, ToolError>, undo: bool) -> Yield {
    let outcome = ToolOutcome {
        correlation: at.intent.sequence,
        result: result.into(),
    };
    Yield {
        undo,
        ..to_value(&outcome).into()
    }
}

/// A call that is not the one that was judged.
#[derive(Debug, thiserror::Error)]
#[error("the call that is to be made is not the one that was judged")]
struct OtherCall;

impl Fault for OtherCall {
    fn facts(&self) -> Facts {
        Facts::new(
            "call-differs",
            Kind::Corrupt,
            "`wharf audit` shows what is affected; restore memory.sqlite from a backup",
        )
    }
}
