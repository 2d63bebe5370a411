//! What a tool answers when it does not do what it was asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::words::error::{Error, Kind};

/// A tool's regular refusal: told to whoever called it, and recorded like any other answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// A stable kebab-case code.
    pub code: String,
    /// What is wrong and what to do, for the model.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Facts for programs.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl ToolError {
    /// One that the same call meets again.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            retryable: false,
            metadata: Map::new(),
        }
    }

    /// One that may pass.
    #[must_use]
    pub const fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// With a fact.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }
}

/// The most bytes of a message, and of the metadata as JSON.
const MAX_TOLD: usize = 8 * 1024;

impl ToolError {
    /// No longer than can be told: a message is shortened, and metadata that is too long left out.
    #[must_use]
    pub(super) fn bounded(mut self) -> Self {
        if self.message.len() > MAX_TOLD {
            let cut = self.message.floor_char_boundary(MAX_TOLD);
            self.message.truncate(cut);
            self.message.push_str(" ... (shortened)");
        }
        let told = serde_json::to_string(&self.metadata).map_or(usize::MAX, |text| text.len());
        if told > MAX_TOLD {
            self.metadata.clear();
        }
        if self.code.len() > MAX_CODE {
            self.code.truncate(self.code.floor_char_boundary(MAX_CODE));
        }
        self
    }
}

/// The most bytes of a code.
const MAX_CODE: usize = 100;

/// How a tool's call may fail.
#[derive(Debug)]
pub enum ToolFault {
    /// The tool refuses; the caller is told and goes on.
    Refused(ToolError),
    /// Something that everything stands on fails: the run ends and can be resumed.
    Failed(Error),
}

impl From<ToolError> for ToolFault {
    fn from(error: ToolError) -> Self {
        Self::Refused(error)
    }
}

impl From<Error> for ToolFault {
    /// What is about this call alone is told to the caller.
    fn from(error: Error) -> Self {
        let retryable = match error.kind() {
            Kind::InvalidInput | Kind::Denied | Kind::Limit | Kind::PluginFault => false,
            Kind::Conflict => true,
            Kind::Unavailable | Kind::Corrupt | Kind::Bug => return Self::Failed(error),
        };
        Self::Refused(ToolError {
            code: error.code().to_owned(),
            message: format!("{error}: {}; {}", error.why(), error.hint()),
            retryable,
            metadata: Map::new(),
        })
    }
}
