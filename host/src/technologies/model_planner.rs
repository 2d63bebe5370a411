//! A planner that asks a language model behind a server of chat completions.
//!
//! Owns what a plan is asked with, and what becomes of each way in which a model may answer: a text counts as one, whatever
//! ended it, and the Loop judges it; a failure says whether and when the Loop is to try again. Never waits and never tries
//! again itself.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use futures::future::BoxFuture;

use super::chat::{
    AnswerSchema, ChatAnswer, ChatClient, ChatFault, ChatFaultKind, ChatMessage, ChatRequest, retry,
};
use crate::{
    core::{
        plan_execute::{
            plan_reader::{CONTENT_FILTER, REFUSAL, TOOL_CALLS},
            plan_schema::plan_schema,
            prompt,
        },
        ports::model::{Answer, Model, Prompt},
    },
    words::error::{Error, Fault as _},
};

/// The planner.
#[derive(Debug)]
pub struct ModelPlanner {
    client: ChatClient,
}

impl ModelPlanner {
    /// Of the model that a client asks.
    #[must_use]
    pub const fn new(client: ChatClient) -> Self {
        Self { client }
    }

    fn failed(&self, fault: &ChatFault, failures: u32) -> Answer {
        let delay = fault.retryable().then(|| {
            retry::delay(
                self.client.settings().retries,
                failures.saturating_add(1),
                fault.retry_after(),
                random(),
            )
        });
        Answer::Failed {
            code: fault.code().to_owned(),
            message: format!("{}; {}", fault.message(), fault.hint()),
            retryable: fault.retryable(),
            retry_after_millis: delay.flatten().map(millis),
        }
    }
}

impl Model for ModelPlanner {
    /// A client that was made can ask.
    fn check(&self, _prompt: &Prompt<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn sample<'a>(
        &'a self,
        prompt: &'a Prompt<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        Box::pin(async move {
            let answer = self.client.complete(&request(prompt), deltas).await;
            Ok(match answer {
                Ok(answer) => text(answer),
                Err(fault) => {
                    refused(&fault).unwrap_or_else(|| self.failed(&fault, prompt.failures))
                }
            })
        })
    }
}

fn request(prompt: &Prompt<'_>) -> ChatRequest {
    let plan = plan_schema(prompt.descriptor);
    ChatRequest {
        messages: vec![
            ChatMessage::System(prompt::instructions(prompt)),
            ChatMessage::User(prompt::question(prompt)),
        ],
        tools: Vec::new(),
        schema: Some(AnswerSchema {
            name: "plan".to_owned(),
            schema: plan.schema,
            strict: plan.strict,
        }),
    }
}

/// None of the tools that it may have called was offered.
fn text(answer: ChatAnswer) -> Answer {
    Answer::Text {
        finish_reason: if answer.tool_calls.is_empty() {
            answer.finish_reason
        } else {
            TOOL_CALLS.to_owned()
        },
        text: answer.text,
        usage: answer.usage,
    }
}

/// An answer that a model or the provider's filter held back, once there was one, is an answer; a question that the server
/// refused is none.
fn refused(fault: &ChatFault) -> Option<Answer> {
    let finish_reason = match (fault.kind(), fault.status()) {
        (ChatFaultKind::Refusal, None) => REFUSAL,
        (ChatFaultKind::ContentFilter, None) => CONTENT_FILTER,
        _ => return None,
    };
    Some(Answer::Text {
        text: fault.why().unwrap_or_default(),
        finish_reason: finish_reason.to_owned(),
        usage: None,
    })
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

/// From 0 to 1, another one each time. Nothing depends on its being hard to guess.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8);
    f64::from((bits >> 32) as u32) / f64::from(u32::MAX)
}
