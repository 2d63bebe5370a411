//! Answers from a file, one JSON object a line.
//!
//! Owns the form of a line and what is served for it.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};

use crate::{chat::Chat, reply::Reply, request::Received};

/// How many characters an event of a streamed answer has.
const CHUNK_CHARS: usize = 12;

/// One answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AnswerLine {
    /// What the model said.
    pub text: String,
    /// Why it ended.
    pub finish_reason: String,
    /// What it used, as the provider said it.
    pub usage: Option<Value>,
}

/// A line that is no answer. Lines are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// It is not a JSON object.
    #[error(
        "line {line} is not a JSON object; write one answer a line, such as {{\"text\": \"...\", \"finishReason\": \"stop\"}}"
    )]
    NotAnObject {
        /// Which.
        line: usize,
        /// What the reader of JSON says.
        source: serde_json::Error,
    },
    /// A key is missing or of another type.
    #[error(
        "`{key}` in line {line} is missing or no string; every line needs a `text`, and `finishReason` is \"stop\" if left out"
    )]
    Key {
        /// Which line.
        line: usize,
        /// Which key.
        key: &'static str,
    },
}

impl AnswerLine {
    /// This text, whole (`stop`), without a usage.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            finish_reason: "stop".into(),
            usage: None,
        }
    }

    /// The answers of a JSON Lines document: objects with `text`, and if they like `finishReason` and `usage`; further keys are
    /// passed over, and empty lines too. Fails at the first line that is something else.
    pub fn read_all(document: &str) -> Result<Vec<Self>, AnswersError> {
        let lines = document.lines().zip(1..);
        lines
            .filter(|(line, _)| !line.trim().is_empty())
            .map(|(text, line)| Self::read(text, line))
            .collect()
    }

    fn read(text: &str, line: usize) -> Result<Self, AnswersError> {
        let mut object: Map<String, Value> = serde_json::from_str(text)
            .map_err(|source| AnswersError::NotAnObject { line, source })?;
        let mut answer = match object.remove("text") {
            Some(Value::String(text)) => Self::new(text),
            _ => return Err(AnswersError::Key { line, key: "text" }),
        };
        match object.remove("finishReason") {
            Some(Value::String(reason)) => answer.finish_reason = reason,
            None | Some(Value::Null) => (),
            Some(_) => {
                let key = "finishReason";
                return Err(AnswersError::Key { line, key });
            }
        }
        answer.usage = object.remove("usage").filter(|usage| !usage.is_null());
        Ok(answer)
    }

    /// The reply that gives this answer in the form that the request asks for.
    pub(crate) fn reply(&self, delay: Duration) -> Reply {
        let answer = self.clone();
        Reply::from_request(Arc::new(move |request| answer.to(request, delay)))
    }

    fn to(&self, request: &Received, delay: Duration) -> Reply {
        let Ok(asked) = serde_json::from_slice::<Value>(&request.body) else {
            return Reply::error(400, "the body is not JSON");
        };
        let mut chat = Chat::new(&self.text)
            .finish_reason(self.finish_reason.as_str())
            .usage(self.usage.clone());
        if let Some(model) = asked["model"].as_str() {
            chat = chat.model(model);
        }
        if asked["stream"] != true {
            return chat.reply();
        }
        if asked["stream_options"]["include_usage"] != true {
            chat = chat.usage(None);
        }
        chat.stream(CHUNK_CHARS).drip(delay)
    }
}
