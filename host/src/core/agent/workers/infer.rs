//! The Infer worker: asks the model once.

use std::sync::Arc;

use serde_json::Value;

use crate::core::{
    agent::state::AgentState,
    cancel::{Cancel, Halt},
    graph::Node,
    node_values::{input, input_text, to_value},
    ports::agent_model::{AgentModel, Conversation, Message, Reply},
    tools::{ToolDescriptor, ToolPermission},
    worker::{Moment, Worker, Yield},
};

pub(super) struct InferWorker {
    pub(super) model: Arc<dyn AgentModel>,
    pub(super) tools: Vec<ToolDescriptor>,
}

impl InferWorker {
    fn conversation<'a>(
        offered: &'a [ToolDescriptor],
        state: &AgentState,
        messages: &'a [Message],
    ) -> Conversation<'a> {
        Conversation {
            messages,
            tools: offered,
            answers: state.answers(),
            failures: state.failures(),
        }
    }

    /// What may not be called is not offered.
    fn offered(&self) -> Vec<ToolDescriptor> {
        let may = |tool: &&ToolDescriptor| tool.permission != ToolPermission::Deny;
        self.tools.iter().filter(may).cloned().collect()
    }
}

impl Worker<AgentState> for InferWorker {
    fn check(&self, _node: &Node, state: &AgentState, _cancel: &Cancel) -> Result<(), Halt> {
        let messages = state.messages();
        let offered = self.offered();
        Ok(self
            .model
            .check(&Self::conversation(&offered, state, &messages))?)
    }

    fn run(
        &self,
        _node: &Node,
        inputs: &[&Value],
        at: &Moment<'_, AgentState>,
    ) -> Result<Yield, Halt> {
        let working_set: String = input(inputs, 0)?;
        let messages: Vec<Message> = input_text(&working_set)?;
        let offered = self.offered();
        let conversation = Self::conversation(&offered, at.state, &messages);
        let reply = at
            .cancel
            .wait(self.model.answer(&conversation, at.deltas))?;
        if let Reply::Failed {
            code,
            message,
            retry_after_millis: Some(millis),
            ..
        } = &reply
        {
            tracing::warn!(
                task = %at.state.request().fields.id,
                why = message,
                "the model failed: {code}; if the budgets allow it, it is asked again after {millis} ms"
            );
        }
        Ok(to_value(&reply).into())
    }
}
