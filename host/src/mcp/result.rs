//! Answers and errors as results of tools: structured, and the same as text for clients that read no structures.

use rmcp::model::{CallToolResult, JsonObject};
use serde::Serialize;
use serde_json::{Value, json};
use wharf::{Error, Kind, core::tools::ToolError};

use super::error::McpError;

/// An error of Wharf in the words that every edge uses.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorTold {
    code: &'static str,
    kind: Kind,
    message: String,
    why: String,
    hint: String,
}

impl From<&Error> for ErrorTold {
    fn from(error: &Error) -> Self {
        Self {
            code: error.code(),
            kind: error.kind(),
            message: error.to_string(),
            why: error.why(),
            hint: error.hint().into_owned(),
        }
    }
}

/// An error of Wharf is a result that says so, not a fault of the protocol: a model reads it and may do better.
pub(super) fn of(answer: Result<Value, Error>) -> CallToolResult {
    match answer {
        Ok(value) => CallToolResult::structured(value),
        Err(error) => {
            CallToolResult::structured_error(value(&ErrorTold::from(&error)).unwrap_or_default())
        }
    }
}

/// A tool's regular refusal, in its own words.
pub(super) fn refused(error: &ToolError) -> CallToolResult {
    CallToolResult::structured_error(value(error).unwrap_or_default())
}

/// The schema of a tool's answer, which holds of its errors as well: some clients hold them against it, and would show neither.
pub(super) fn schema(mut answer: JsonObject) -> JsonObject {
    if let Some(required) = answer.remove("required") {
        let either = json!([{ "required": required }, { "required": ["code", "message"] }]);
        answer.insert("anyOf".to_owned(), either);
    }
    answer
}

/// A document as a JSON value.
pub(super) fn value(document: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(document).map_err(|source| McpError::Answer { source }.into())
}
