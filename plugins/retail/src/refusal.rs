//! How a tool says no: a regular answer, after which the next step follows.

use serde::Serialize;
use wharf_plugin::{Answer, Failure, SqlError};

/// A refused call. It has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// For people, in the benchmark's words.
    pub error: String,
}

/// Why a tool has no result.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The domain refuses.
    Refused(Refusal),
    /// The database does not answer.
    Failed(SqlError),
}

impl Stop {
    /// What the contract calls it.
    pub fn answer(self) -> Result<Answer, Failure> {
        match self {
            Self::Refused(refusal) => Ok(Answer::declined(&refusal)),
            Self::Failed(error) => Err(error.into()),
        }
    }
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Self {
        Self::Failed(error)
    }
}

/// A refusal with a code and the benchmark's words for it.
pub fn refused(code: &'static str, error: impl Into<String>) -> Stop {
    Stop::Refused(Refusal {
        code,
        error: error.into(),
    })
}

/// Refuses unless the rule holds.
pub fn ensure(holds: bool, code: &'static str, error: &str) -> Result<(), Stop> {
    if holds {
        Ok(())
    } else {
        Err(refused(code, error))
    }
}
