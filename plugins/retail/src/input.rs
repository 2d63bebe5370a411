//! What a task is about: one customer, or nobody in particular.

use wharf_plugin::{Fields, Violation};

/// The task's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The customer. None: a plan can only look things up.
    pub user_id: Option<String>,
}

impl Input {
    /// Reads `task.input`, or lists everything that is wrong with it.
    pub fn parse(json: &str) -> Result<Self, Vec<Violation>> {
        let mut fields = Fields::of_input(json)?;
        let rule = "1 to 80 letters, digits, `_` or `-`";
        let user_id = fields.take_optional("userId", rule, |value| {
            value.as_str().filter(is_id).map(str::to_owned)
        });
        fields.finish(|| Some(Self { user_id }))
    }
}

fn is_id(id: &&str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=80).contains(&id.len()) && id.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_may_be_named() {
        let named = Input::parse(r#"{"userId": "noah_brown_6181"}"#);
        let user_id = Some("noah_brown_6181".to_owned());
        assert_eq!(named, Ok(Input { user_id }));
        assert_eq!(Input::parse("{}"), Ok(Input { user_id: None }));
    }

    #[test]
    fn everything_else_is_refused() {
        let long = format!(r#"{{"userId": "{}"}}"#, "a".repeat(81));
        for (json, codes) in [
            ("[]", &["invalid-input"][..]),
            (r#"{"userId": null}"#, &["invalid-field"]),
            (
                r#"{"userId": "", "user": 1}"#,
                &["invalid-field", "unknown-field"],
            ),
            (&long, &["invalid-field"]),
        ] {
            let faults = Input::parse(json).expect_err("a refused input");
            let found: Vec<_> = faults.iter().map(|fault| fault.code.as_str()).collect();
            assert_eq!(found, codes);
        }
    }
}
