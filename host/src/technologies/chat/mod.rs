//! A client of servers that speak the chat completions of OpenAI: settings, one attempt, its answer, and what goes wrong.
//!
//! It knows no provider by name, no prompt and no plan. It never tries again by itself, reads no environment (names are looked up
//! through [`Surroundings`]), and gives out no secret in a text, an error or a log. Called by planners and agents.

pub mod client;
pub mod settings;
pub mod settings_error;
pub mod surroundings;
pub mod request;
pub mod answer;
pub mod probe;
pub mod fault;
pub mod retry;

mod access;
mod assembly;
mod connection;
mod credential;
mod exchange;
mod negotiation;
mod proxy;
mod retry_after;
mod secret;
mod server_error;
mod settings_check;
mod sse;
mod transport_error;

pub use self::{
    answer::{ChatAnswer, ToolCall},
    client::ChatClient,
    fault::{ChatFault, ChatFaultKind},
    probe::Probe,
    request::{AnswerSchema, ChatMessage, ChatRequest, ChatTool},
    settings::{ChatSettings, HeaderSetting, ResponseFormat},
    settings_error::ChatSettingsError,
    surroundings::Surroundings,
};
