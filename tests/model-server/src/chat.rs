//! A chat completion in the form that providers document: one object, or a stream of chunks.

use serde_json::{Value, json};

use crate::reply::Reply;

/// When everything here was made, in seconds since 1970: always the same moment, so that answers are the same too.
pub(crate) const CREATED: u64 = 1_750_000_000;

const ID: &str = "chatcmpl-1";

/// One completion: a text, why it ended, and what it used.
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    text: String,
    model: String,
    finish_reason: Value,
    usage: Option<Value>,
}

impl Chat {
    /// This text, whole (`stop`), by a model called `test-model`, with a usage of 9 tokens in and 12 out.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            model: "test-model".into(),
            finish_reason: "stop".into(),
            usage: Some(json!({ "prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21 })),
        }
    }

    /// By a model of this name.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Ended for this reason: `length`, `content_filter`; or [`Value::Null`].
    #[must_use]
    pub fn finish_reason(mut self, reason: impl Into<Value>) -> Self {
        self.finish_reason = reason.into();
        self
    }

    /// With this usage; with `None`, the answer has none.
    #[must_use]
    pub fn usage(mut self, usage: Option<Value>) -> Self {
        self.usage = usage;
        self
    }

    /// The completion in one piece.
    pub fn reply(&self) -> Reply {
        let mut completion = json!({
            "id": ID,
            "object": "chat.completion",
            "created": CREATED,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": self.text, "refusal": null },
                "logprobs": null,
                "finish_reason": self.finish_reason,
            }],
        });
        if let Some(usage) = &self.usage {
            completion["usage"] = usage.clone();
        }
        Reply::json(200, &completion)
    }

    /// The completion as server-sent events: the role, the text in parts of so many characters (at least one), the reason of the
    /// end, the usage without a choice, and `[DONE]`.
    pub fn stream(&self, chunk_chars: usize) -> Reply {
        let mut events =
            vec![self.chunk(&json!({ "role": "assistant", "content": "" }), &Value::Null)];
        let characters: Vec<char> = self.text.chars().collect();
        for part in characters.chunks(chunk_chars.max(1)) {
            let part: String = part.iter().collect();
            events.push(self.chunk(&json!({ "content": part }), &Value::Null));
        }
        events.push(self.chunk(&json!({}), &self.finish_reason));
        if let Some(usage) = &self.usage {
            let mut last = self.frame();
            last["choices"] = json!([]);
            last["usage"] = usage.clone();
            events.push(last.to_string());
        }
        events.push("[DONE]".into());
        Reply::sse(events)
    }

    fn chunk(&self, delta: &Value, finish_reason: &Value) -> String {
        let mut chunk = self.frame();
        chunk["choices"] = json!([
            { "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason },
        ]);
        if self.usage.is_some() {
            chunk["usage"] = Value::Null;
        }
        chunk.to_string()
    }

    fn frame(&self) -> Value {
        json!({
            "id": ID,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.model,
        })
    }
}
