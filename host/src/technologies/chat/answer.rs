//! What a model answered, and the reading of an answer in one piece.
//!
//! Owns the choice of what counts: the text and the tool calls of the first choice. What a model thinks aloud (`reasoning`,
//! `reasoning_content`) is passed over.

use serde_json::Value;

use super::{
    assembly::Assembly,
    fault::{ChatFaultKind, Failure},
};
use crate::core::ports::model::Usage;

/// A complete answer of a server, whatever it is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatAnswer {
    /// The text; empty where the model only called tools.
    pub text: String,
    /// What the model calls, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// Why the answer ended, as the server names it: `stop`, `tool_calls`, `length`, ...; `unknown` where a whole answer does not
    /// say. At most 64 bytes, safe to show.
    pub finish_reason: String,
    /// Tokens, where the server counts them.
    pub usage: Option<Usage>,
}

/// One call of a tool. All three are the model's, unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The id by which the answer names the call; `call_N` where the server gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the model wrote them: JSON, or what it took for it.
    pub arguments: String,
}

/// Reads an answer in one piece.
pub(super) fn read_whole(
    bytes: &[u8],
    most_bytes: u64,
    deltas: &(dyn Fn(&str) + Sync),
) -> Result<ChatAnswer, Failure> {
    let mut assembly = Assembly::new(most_bytes);
    assembly.take(&json(bytes)?, "message", deltas)?;
    assembly.end()
}

/// What stands in the body of a response, or in an event.
pub(super) fn json(bytes: &[u8]) -> Result<Value, Failure> {
    let text = std::str::from_utf8(bytes).map_err(|_| ChatFaultKind::NotUtf8)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Neither the error, which may repeat a part of it, nor the text.
    serde_json::from_str(text).map_err(|_| ChatFaultKind::NotJson.into())
}

/// Tokens, where both counts are there.
pub(super) fn usage(value: &Value) -> Option<Usage> {
    let of = |usage: &Value| {
        Some(Usage {
            prompt_tokens: usage.get("prompt_tokens")?.as_u64()?,
            completion_tokens: usage.get("completion_tokens")?.as_u64()?,
        })
    };
    value
        .get("usage")
        .and_then(of)
        // Where Groq puts it in a stream.
        .or_else(|| of(value.get("x_groq")?.get("usage")?))
}
