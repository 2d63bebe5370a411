//! One fault, as people and programs see it.

/// One fault of a task, a plan or a result. The crate's README lists the codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// For people; it may change.
    pub message: String,
    /// The id of the step at fault. None: the whole task, plan or result is.
    pub step: Option<String>,
}

impl Violation {
    /// A fault of the whole.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            step: None,
        }
    }

    /// The same fault, of one step.
    pub fn at(self, step: &str) -> Self {
        Self {
            step: Some(step.to_owned()),
            ..self
        }
    }
}

/// Text from outside as a message may repeat it: its first 80 characters, escaped and in quotes.
pub fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(80).collect::<String>())
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
