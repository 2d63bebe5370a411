//! The request of a task of either pattern, as it is stored.

use serde_json::Value;

use super::{
    agent::request::AgentRequest,
    ports::permission::Acting,
    request::{REQUEST_BOUNDS, Request, RequestError},
};
use crate::words::json;

/// The request of one task.
#[derive(Debug, Clone)]
pub enum TaskRequest {
    /// Of plan-execute.
    PlanExecute(Box<Request>),
    /// Of an agent.
    Agent(Box<AgentRequest>),
}

impl TaskRequest {
    /// Reads a request from its JSON text: an agent's names its `agent`.
    ///
    /// # Errors
    /// Anything that is not the documented form of the one or the other.
    pub fn read(text: &str) -> Result<Self, RequestError> {
        let value = json::parse_strict(text, REQUEST_BOUNDS).map_err(RequestError::NotJson)?;
        let of_agent = value.get("agent").is_some_and(Value::is_string);
        Ok(if of_agent {
            Self::Agent(Box::new(AgentRequest::read(text)?))
        } else {
            Self::PlanExecute(Box::new(Request::read(text)?))
        })
    }

    /// Who acts for it.
    #[must_use]
    pub const fn acting(&self) -> Acting<'_> {
        match self {
            Self::PlanExecute(request) => request.acting(),
            Self::Agent(request) => request.acting(),
        }
    }

    /// What is wanted.
    #[must_use]
    pub fn goal(&self) -> &str {
        match self {
            Self::PlanExecute(request) => &request.goal,
            Self::Agent(request) => &request.fields.prompt,
        }
    }
}
