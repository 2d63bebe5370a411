//! The model that proposes plans.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    core::{contract::Descriptor, request::Request},
    words::error::Error,
};

/// A planning model.
pub trait Model: Send + Sync {
    /// Whether a call can be made at all (a key, a script with a line left); asked before a call is reserved and charged.
    fn check(&self, prompt: &Prompt<'_>) -> Result<(), Error>;

    /// Asks once. A failure of the model is an [`Answer::Failed`], which is journaled; an `Err` is a failure of this program
    /// or its machine. Dropping the future aborts the call.
    fn sample<'a>(
        &'a self,
        prompt: &'a Prompt<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Answer, Error>>;
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// The task.
    pub request: &'a Request,
    /// The domain's instructions and tools.
    pub descriptor: &'a Descriptor,
    /// The working set as the Context holds it: JSON.
    pub working_set: &'a str,
    /// How many answers the journal holds already.
    pub answers: usize,
    /// How many of this run's answers, the last ones, were failures without anything else between them: what a model decides by
    /// whether to ask for another attempt.
    pub failures: u32,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// Text, complete or not.
    Text {
        /// The text.
        text: String,
        /// Why it ended: `stop` for a complete answer; any other value, as the provider names it.
        finish_reason: String,
        /// Tokens, where the provider reports them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model failed; the attempt is charged.
    Failed {
        /// The provider's code.
        code: String,
        /// For people.
        message: String,
        /// Whether trying again may help.
        retryable: bool,
        /// The same run is to try again so many milliseconds from now, if the budgets have another attempt; none: it ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_millis: Option<u64>,
    },
    /// A search ended at its bound without a plan.
    SearchBound {
        /// Candidates tried.
        candidates: u32,
    },
}

/// Tokens of one call, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
}
