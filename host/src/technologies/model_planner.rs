//! A planner, and the model of an agent, that asks a language model behind a server of chat completions.
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
    AnswerSchema, ChatAnswer, ChatClient, ChatFault, ChatFaultKind, ChatMessage, ChatRequest,
    ChatTool, ToolCall, retry,
};
use crate::{
    core::{
        plan_execute::{
            plan_reader::{CONTENT_FILTER, REFUSAL},
            plan_schema::plan_schema,
            prompt,
        },
        ports::{
            agent_model::{AgentModel, Conversation, Message, ModelCall, Reply},
            model::{Answer, Model, Prompt},
        },
        tools::ToolDescriptor,
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

    /// One attempt, whatever comes of it.
    async fn ask(
        &self,
        request: &ChatRequest,
        failures: u32,
        deltas: &(dyn Fn(&str) + Sync),
    ) -> Reply {
        match self.client.complete(request, deltas).await {
            Ok(answer) => said(answer),
            Err(fault) => refused(&fault).unwrap_or_else(|| self.failed(&fault, failures)),
        }
    }

    fn failed(&self, fault: &ChatFault, failures: u32) -> Reply {
        let delay = fault.retryable().then(|| {
            retry::delay(
                self.client.settings().retries,
                failures.saturating_add(1),
                fault.retry_after(),
                random(),
            )
        });
        Reply::Failed {
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
            let request = plan_request(prompt);
            Ok(self.ask(&request, prompt.failures, deltas).await.into())
        })
    }
}

impl AgentModel for ModelPlanner {
    /// A client that was made can ask.
    fn check(&self, _conversation: &Conversation<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn answer<'a>(
        &'a self,
        conversation: &'a Conversation<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let request = agent_request(conversation);
            Ok(self.ask(&request, conversation.failures, deltas).await)
        })
    }
}

fn agent_request(conversation: &Conversation<'_>) -> ChatRequest {
    ChatRequest {
        messages: conversation.messages.iter().map(message).collect(),
        tools: conversation.tools.iter().map(tool).collect(),
        schema: None,
    }
}

fn message(message: &Message) -> ChatMessage {
    match message.clone() {
        Message::System { text } => ChatMessage::System(text),
        Message::User { text } => ChatMessage::User(text),
        Message::Assistant { text, calls } => ChatMessage::Assistant {
            text,
            tool_calls: calls
                .into_iter()
                .map(|call| ToolCall {
                    id: call.id,
                    name: call.name,
                    arguments: call.arguments,
                })
                .collect(),
        },
        Message::Tool { call, text } => ChatMessage::Tool {
            tool_call_id: call,
            text,
        },
    }
}

fn tool(tool: &ToolDescriptor) -> ChatTool {
    ChatTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.input_schema.clone(),
        stays: tool.cache_hint,
    }
}

fn plan_request(prompt: &Prompt<'_>) -> ChatRequest {
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

fn said(answer: ChatAnswer) -> Reply {
    let calls = answer.tool_calls.into_iter().map(|call| ModelCall {
        id: call.id,
        name: call.name,
        arguments: call.arguments,
    });
    Reply::Said {
        text: answer.text,
        calls: calls.collect(),
        finish_reason: answer.finish_reason,
        usage: answer.usage,
    }
}

/// An answer that a model or the provider's filter held back, once there was one, is an answer; a question that the server
/// refused is none.
fn refused(fault: &ChatFault) -> Option<Reply> {
    let finish_reason = match (fault.kind(), fault.status()) {
        (ChatFaultKind::Refusal, None) => REFUSAL,
        (ChatFaultKind::ContentFilter, None) => CONTENT_FILTER,
        _ => return None,
    };
    Some(Reply::Said {
        text: fault.why().unwrap_or_default(),
        calls: Vec::new(),
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
