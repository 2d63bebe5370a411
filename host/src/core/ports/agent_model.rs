//! The model that an agent talks with.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::model::{Answer, Usage};
use crate::{
    core::{plan_execute::plan_reader::TOOL_CALLS, tools::ToolDescriptor},
    words::error::Error,
};

/// A model that answers a conversation and may call tools.
pub trait AgentModel: Send + Sync {
    /// Whether a call can be made at all; asked before a turn is reserved and charged.
    fn check(&self, conversation: &Conversation<'_>) -> Result<(), Error>;

    /// Asks once. A failure of the model is a [`Reply::Failed`], which is journaled; an `Err` is a failure of this program or
    /// its machine. Dropping the future aborts the call.
    fn answer<'a>(
        &'a self,
        conversation: &'a Conversation<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Reply, Error>>;
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Conversation<'a> {
    /// What has been said, oldest first; what does not change comes first.
    pub messages: &'a [Message],
    /// What it may call.
    pub tools: &'a [ToolDescriptor],
    /// How many answers the journal holds already.
    pub answers: usize,
    /// How many of this run's answers, the last ones, were failures.
    pub failures: u32,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Message {
    /// The runtime's instructions.
    System {
        /// The text.
        text: String,
    },
    /// Whoever asks.
    User {
        /// The text.
        text: String,
    },
    /// The model.
    Assistant {
        /// Its text; may be empty where it calls tools.
        text: String,
        /// What it calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ModelCall>,
    },
    /// What a tool answered.
    Tool {
        /// The call's id.
        call: String,
        /// The answer, as JSON.
        text: String,
    },
}

/// A call, as the model wrote it, unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCall {
    /// By which the model knows it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON, or what the model took for it.
    pub arguments: String,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reply {
    /// A text, calls, or both.
    Said {
        /// The text, complete or not.
        text: String,
        /// What it calls, in its order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ModelCall>,
        /// Why it ended, as the provider names it: `stop`, `tool_calls`, `length`, ...
        finish_reason: String,
        /// Tokens, where the provider reports them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model failed; the turn is charged.
    Failed {
        /// The provider's code.
        code: String,
        /// For people.
        message: String,
        /// Whether trying again may help.
        retryable: bool,
        /// The same run is to try again so many milliseconds from now; none: it ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_millis: Option<u64>,
    },
}

impl From<Reply> for Answer {
    /// For a planner, which offers no tools: an answer that calls some is none, whatever it says of its end.
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Said {
                text,
                calls,
                finish_reason,
                usage,
            } => Self::Text {
                text,
                finish_reason: if calls.is_empty() {
                    finish_reason
                } else {
                    TOOL_CALLS.to_owned()
                },
                usage,
            },
            Reply::Failed {
                code,
                message,
                retryable,
                retry_after_millis,
            } => Self::Failed {
                code,
                message,
                retryable,
                retry_after_millis,
            },
        }
    }
}
