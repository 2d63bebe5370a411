//! An answer put together from its pieces.
//!
//! Owns the rules of the pieces: which choice counts, which fragment belongs to which tool call, when an answer is complete, and
//! how much of it is kept. Knows neither HTTP nor events. An answer in one piece is one piece.

use serde_json::Value;

use super::{
    answer::{ChatAnswer, ToolCall, usage},
    fault::{ChatFaultKind, Failure},
    server_error::ServerError,
};
use crate::{core::ports::model::Usage, words::escape::excerpt};

/// Under which a choice holds all that the model said, in one piece.
const WHOLE: &str = "message";

/// The most tool calls of one answer.
const MOST_CALLS: usize = 128;

/// The most bytes of a reason to end.
const MOST_REASON: usize = 61;

/// The pieces so far.
#[derive(Debug)]
pub(super) struct Assembly {
    left: u64,
    most: u64,
    text: String,
    refusal: String,
    calls: Vec<Fragments>,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    choices_seen: bool,
}

#[derive(Debug, Default)]
struct Fragments {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

type Taken = Result<(), Failure>;

impl Assembly {
    /// Of at most so many bytes of text and tool calls.
    pub(super) fn new(most_bytes: u64) -> Self {
        Self {
            left: most_bytes,
            most: most_bytes,
            text: String::new(),
            refusal: String::new(),
            calls: Vec::new(),
            finish_reason: None,
            usage: None,
            choices_seen: false,
        }
    }

    /// Whether the reason to end is there: whatever follows adds no text.
    pub(super) fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Takes one piece: what stands in the first choice under `key`, the reason to end, the count of tokens. A piece after the
    /// end may still bring the count, and an error; its text is passed over.
    pub(super) fn take(
        &mut self,
        piece: &Value,
        key: &str,
        deltas: &(dyn Fn(&str) + Sync),
    ) -> Taken {
        if let Some(error) = ServerError::in_answer(piece) {
            return Err(error.into_failure());
        }
        if let Some(usage) = usage(piece) {
            self.usage = Some(usage);
        }
        let choices = piece.get("choices").and_then(Value::as_array);
        let index = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0);
        let Some(choice) = choices.and_then(|all| all.iter().find(|choice| index(choice) == 0))
        else {
            return Ok(());
        };
        self.choices_seen = true;
        if self.is_finished() {
            return Ok(());
        }
        if let Some(message) = choice.get(key) {
            self.message(message, key == WHOLE, deltas)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str)
            && !reason.is_empty()
        {
            self.finish_reason = Some(excerpt(reason, MOST_REASON));
        }
        Ok(())
    }

    /// The answer, of which the server has said that it is all: it came in one piece, or its last event was there.
    pub(super) fn end(mut self) -> Result<ChatAnswer, Failure> {
        if !self.choices_seen {
            return Err(ChatFaultKind::NoChoices.into());
        }
        self.finish_reason
            .get_or_insert_with(|| "unknown".to_owned());
        self.answer()
    }

    /// The answer, after a stream that ended without a last event.
    pub(super) fn end_of_body(self) -> Result<ChatAnswer, Failure> {
        if !self.is_finished() {
            return Err(ChatFaultKind::StreamCut.into());
        }
        self.answer()
    }

    fn answer(self) -> Result<ChatAnswer, Failure> {
        let finish_reason = self.finish_reason.unwrap_or_default();
        match finish_reason.as_str() {
            "content_filter" => return Err(ChatFaultKind::ContentFilter.into()),
            "error" => return Err(ServerError::default().into_failure()),
            _ if !self.refusal.is_empty() => {
                return Err(Failure::new(ChatFaultKind::Refusal, self.refusal));
            }
            _ => (),
        }
        let call = |(at, call): (usize, Fragments)| ToolCall {
            id: if call.id.is_empty() {
                format!("call_{at}")
            } else {
                call.id
            },
            name: call.name,
            arguments: call.arguments,
        };
        Ok(ChatAnswer {
            text: self.text,
            tool_calls: self.calls.into_iter().enumerate().map(call).collect(),
            finish_reason,
            usage: self.usage,
        })
    }

    fn message(
        &mut self,
        message: &Value,
        is_whole: bool,
        deltas: &(dyn Fn(&str) + Sync),
    ) -> Taken {
        if let Some(content) = message.get("content") {
            self.content(content, deltas)?;
        }
        if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
            self.pay(refusal.len())?;
            self.refusal.push_str(refusal);
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.call(call, is_whole)?;
        }
        Ok(())
    }

    /// A text, or a list of parts, of which those of the type `text` count.
    fn content(&mut self, content: &Value, deltas: &(dyn Fn(&str) + Sync)) -> Taken {
        match content {
            Value::String(text) => {
                self.pay(text.len())?;
                self.text.push_str(text);
                if !text.is_empty() {
                    deltas(text);
                }
                Ok(())
            }
            Value::Array(parts) => parts
                .iter()
                .filter(|part| part.get("type").and_then(Value::as_str) == Some("text"))
                .filter_map(|part| part.get("text"))
                .filter(|text| text.is_string())
                .try_for_each(|text| self.content(text, deltas)),
            _ => Ok(()),
        }
    }

    /// A fragment, or a whole call, which goes on with no other.
    fn call(&mut self, fragment: &Value, is_whole: bool) -> Taken {
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => text.clone(),
            // Some servers write arguments as the object that they stand for.
            Some(value @ Value::Object(_)) => value.to_string(),
            _ => String::new(),
        };
        let function = fragment.get("function");
        let id = text(fragment.get("id"));
        let name = text(function.and_then(|it| it.get("name")));
        let arguments = text(function.and_then(|it| it.get("arguments")));
        self.pay(id.len() + name.len() + arguments.len())?;
        let index = fragment.get("index").and_then(Value::as_u64);
        let known = match is_whole {
            true => None,
            false => self.belongs_to(index, &id, &name),
        };
        let at = match known {
            Some(at) => at,
            None if self.calls.len() == MOST_CALLS => return Err(self.too_large()),
            None => {
                self.calls.push(Fragments {
                    index,
                    ..Fragments::default()
                });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        // Some servers repeat the name in each fragment.
        if call.name.is_empty() {
            call.name = name;
        }
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// The call that a fragment goes on with: the one of its index; without an index, the last. Another id begins another call in
    /// either case, since some servers count all calls as number 0; so does another name, and without index and id any name.
    fn belongs_to(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let known = &self.calls[at];
        let same = if index.is_none() && id.is_empty() {
            name.is_empty() || known.name.is_empty()
        } else {
            id.is_empty() || known.id.is_empty() || known.id == id
        };
        let same_name = name.is_empty() || known.name.is_empty() || known.name == name;
        (same && same_name).then_some(at)
    }

    fn pay(&mut self, bytes: usize) -> Taken {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.too_large()),
        }
    }

    fn too_large(&self) -> Failure {
        let words = format!(
            "it has more than {} bytes, or {MOST_CALLS} calls",
            self.most
        );
        Failure::new(ChatFaultKind::AnswerTooLarge, words)
    }
}

#[cfg(test)]
#[path = "assembly_tests.rs"]
mod tests;
