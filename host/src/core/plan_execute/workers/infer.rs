//! The Infer worker: asks the model once.

use std::sync::Arc;

use serde_json::Value;

use crate::core::{
    cancel::{Cancel, Halt},
    graph::Node,
    machine::Loop as _,
    node_values::input,
    plan_execute::{operations::to_value, state::TaskState},
    ports::{
        domain::Domain,
        model::{Answer, Model, Prompt},
    },
    worker::{Moment, Worker, Yield},
};

pub(super) struct InferWorker {
    pub(super) model: Arc<dyn Model>,
    pub(super) domain: Arc<dyn Domain>,
}

impl InferWorker {
    fn prompt<'a>(&'a self, state: &'a TaskState, working_set: &'a str) -> Prompt<'a> {
        Prompt {
            request: state.request(),
            descriptor: self.domain.descriptor(),
            working_set,
            answers: state.answers(),
            failures: state.failures(),
        }
    }
}

impl Worker<TaskState> for InferWorker {
    fn check(&self, _node: &Node, state: &TaskState, _cancel: &Cancel) -> Result<(), Halt> {
        let prompt = state.working_set().to_string();
        Ok(self.model.check(&self.prompt(state, &prompt))?)
    }

    fn run(
        &self,
        _node: &Node,
        inputs: &[&Value],
        at: &Moment<'_, TaskState>,
    ) -> Result<Yield, Halt> {
        let working_set: String = input(inputs, 0)?;
        let prompt = self.prompt(at.state, &working_set);
        let answer = at.cancel.wait(self.model.sample(&prompt, at.deltas))?;
        if let Answer::Failed {
            code,
            message,
            retry_after_millis: Some(millis),
            ..
        } = &answer
        {
            tracing::warn!(
                task = %at.state.request().id,
                why = message,
                "the model failed: {code}; if the budgets allow it, it is asked again after {millis} ms"
            );
        }
        Ok(to_value(&answer).into())
    }
}
