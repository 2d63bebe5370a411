//! The contract's own types, and what makes them easy to build.

use serde::Serialize;

use crate::bindings::exports::wharf::domain::tools;
use crate::bindings::wharf::domain::{log as host_log, types};
use crate::json;
use crate::sql::SqlError;

pub use tools::{Answer, Failure, Outcome};
pub use types::{
    Artifact, Completed, Conclusion, Descriptor, Effect, Migration, Plan, PlanStatus, Step, Task,
    Tool, Violation,
};

impl Tool {
    /// A tool that changes no rows and takes no arguments.
    pub fn read(name: &str, description: &str, postcondition: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            effect: Effect::Read,
            postcondition: postcondition.to_owned(),
            arguments: None,
        }
    }

    /// A tool that changes the plugin's rows and takes no arguments. It needs an operation key.
    pub fn write(name: &str, description: &str, postcondition: &str) -> Self {
        Self {
            effect: Effect::Write,
            ..Self::read(name, description, postcondition)
        }
    }

    /// The same tool, with arguments as this JSON Schema describes them.
    pub fn with_arguments(self, schema: impl Into<String>) -> Self {
        Self {
            arguments: Some(schema.into()),
            ..self
        }
    }
}

/// Migrations numbered from 1. A released one never changes; a later one follows it.
pub fn migrations(sql: &[&str]) -> Vec<Migration> {
    let numbered = (1..).zip(sql);
    numbered
        .map(|(version, sql)| Migration {
            version,
            sql: (*sql).to_owned(),
        })
        .collect()
}

impl Violation {
    /// A fault of the whole task, plan or result. The code is stable and kebab-case; the message may
    /// change.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            step: None,
        }
    }

    /// The same fault, of one step.
    pub fn at(self, step: &Step) -> Self {
        Self {
            step: Some(step.id.clone()),
            ..self
        }
    }
}

impl Answer {
    /// The step is performed: `state` is its tool's postcondition, `data` its record.
    pub fn done(state: impl Into<String>, data: &impl Serialize) -> Self {
        Self::Done(Outcome {
            state: state.into(),
            data: json(data),
        })
    }

    /// The domain says no, as a regular answer. Whatever was written is rolled back, and the next step
    /// follows.
    pub fn declined(why: &impl Serialize) -> Self {
        Self::Declined(json(why))
    }
}

impl From<SqlError> for Failure {
    /// No plan helps against a database that does not answer.
    fn from(error: SqlError) -> Self {
        Self::Rejected(match error {
            SqlError::Denied(message) => format!("the host denied a statement: {message}"),
            SqlError::Constraint(message) => format!("a constraint is violated: {message}"),
            SqlError::Limit(message) => format!("a statement exceeded a limit: {message}"),
            SqlError::Failed(message) => format!("a statement failed: {message}"),
        })
    }
}

/// Text from outside as a message may repeat it: its first 80 characters, escaped and in quotes.
pub fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(80).collect::<String>())
}

/// Diagnostics for the plugin's author and operator. Nothing of a task depends on them.
pub mod log {
    pub use super::host_log::Level;

    /// Writes one entry to the host's log; in tests, nowhere.
    pub fn write(level: Level, message: &str) {
        #[cfg(target_family = "wasm")]
        super::host_log::write(level, message);
        #[cfg(not(target_family = "wasm"))]
        let _ = (level, message);
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn text_from_outside_is_repeated_escaped_and_bounded() {
        assert_eq!(quoted("a\u{1b}[31m"), r#""a\u{1b}[31m""#);
        assert_eq!(quoted(&"x".repeat(5_000)).len(), 82);
    }
}
