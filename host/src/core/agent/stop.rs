//! Why an agent's task ended. Every reason publishes.

use serde::Serialize;

use crate::core::plan_execute::stop::Status;

/// Why an agent's task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AgentStop {
    /// The model answered.
    Answered,
    /// The model's answer was cut off, held back or declined, and it called no tool.
    AnswerIncomplete,
    /// All turns are used.
    MaxTurns,
    /// All tool calls are used.
    MaxToolCalls,
    /// All tokens are used.
    MaxTokens,
    /// The deadline has passed.
    Deadline,
}

impl AgentStop {
    /// The status of a report with this reason.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Answered => Status::Completed,
            _ => Status::Partial,
        }
    }

    /// As it is written.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::AnswerIncomplete => "answer-incomplete",
            Self::MaxTurns => "max-turns",
            Self::MaxToolCalls => "max-tool-calls",
            Self::MaxTokens => "max-tokens",
            Self::Deadline => "deadline",
        }
    }
}
