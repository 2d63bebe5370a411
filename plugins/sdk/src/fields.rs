//! Reads an object field by field, and lists everything that is wrong with it.

use serde_json::{Map, Value};

use crate::{Violation, quoted};

const INVALID_ARGUMENTS: &str = "invalid-arguments";

/// The fields of an object not yet taken, and what was wrong with those that were.
///
/// ```
/// # use wharf_plugin::{Fields, Violation};
/// struct Input {
///     order: String,
///     pieces: i64,
/// }
///
/// fn read(json: &str) -> Result<Input, Vec<Violation>> {
///     let mut fields = Fields::of_input(json)?;
///     let order = fields.take("order", "a text", |value| Some(value.as_str()?.to_owned()));
///     let pieces = fields.take("pieces", "a positive integer", |value| {
///         value.as_i64().filter(|pieces| *pieces > 0)
///     });
///     fields.finish(|| Some(Input { order: order?, pieces: pieces? }))
/// }
///
/// let faults = read(r#"{"pieces": 0, "colour": "red"}"#).err().unwrap();
/// let codes: Vec<_> = faults.iter().map(|fault| fault.code.as_str()).collect();
/// assert_eq!(codes, ["missing-field", "invalid-field", "unknown-field"]);
/// ```
#[derive(Debug)]
pub struct Fields {
    of: Of,
    fields: Map<String, Value>,
    faults: Vec<Violation>,
}

#[derive(Debug, Clone, Copy)]
enum Of {
    Input,
    Arguments,
}

impl Fields {
    /// Of a task's input. The codes are `invalid-input` (no object), `missing-field`, `invalid-field`
    /// and `unknown-field`.
    pub fn of_input(json: &str) -> Result<Self, Vec<Violation>> {
        Self::read(json, Of::Input)
    }

    /// Of a step's arguments. The only code is `invalid-arguments`, as the host has it for arguments that
    /// do not fit the tool's schema: what both find is listed once.
    pub fn of_arguments(json: &str) -> Result<Self, Vec<Violation>> {
        Self::read(json, Of::Arguments)
    }

    fn read(json: &str, of: Of) -> Result<Self, Vec<Violation>> {
        let fields = serde_json::from_str(json).map_err(|_| {
            let (code, message) = match of {
                Of::Input => ("invalid-input", "the input must be a JSON object"),
                Of::Arguments => (INVALID_ARGUMENTS, "the arguments must be a JSON object"),
            };
            vec![Violation::new(code, message)]
        })?;
        Ok(Self {
            of,
            fields,
            faults: Vec::new(),
        })
    }

    /// Takes a field that must be there. `read` says whether it is what `rule` asks for.
    pub fn take<T>(
        &mut self,
        name: &str,
        rule: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        if self.fields.contains_key(name) {
            return self.take_optional(name, rule, read);
        }
        self.fault("missing", format!("`{name}` must be {rule}"));
        None
    }

    /// Takes a field that may be absent; `null` is not.
    pub fn take_optional<T>(
        &mut self,
        name: &str,
        rule: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let taken = read(&self.fields.remove(name)?);
        if taken.is_none() {
            self.fault("invalid", format!("`{name}` must be {rule}"));
        }
        taken
    }

    /// What `build` makes of the fields, or all faults; a field that is left is unknown.
    ///
    /// # Panics
    /// If `build` yields none though no field was at fault.
    pub fn finish<T>(mut self, build: impl FnOnce() -> Option<T>) -> Result<T, Vec<Violation>> {
        let noun = match self.of {
            Of::Input => "field",
            Of::Arguments => "argument",
        };
        for name in std::mem::take(&mut self.fields).keys() {
            let message = format!("there is no {noun} {}", quoted(name));
            self.fault("unknown", message);
        }
        if self.faults.is_empty() {
            Ok(build().expect("every field was taken without a fault"))
        } else {
            Err(self.faults)
        }
    }

    fn fault(&mut self, what: &str, message: String) {
        let code = match self.of {
            Of::Input => format!("{what}-field"),
            Of::Arguments => INVALID_ARGUMENTS.to_owned(),
        };
        self.faults.push(Violation::new(code, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<(String, Option<i64>), Vec<Violation>> {
        let mut fields = Fields::of_arguments(json)?;
        let name = fields.take("name", "a text", |value| value.as_str().map(str::to_owned));
        let size = fields.take_optional("size", "an integer", Value::as_i64);
        fields.finish(|| Some((name?, size)))
    }

    #[test]
    fn fields_are_read_and_optional_ones_may_be_absent() {
        assert_eq!(
            read(r#"{"name": "a", "size": 1}"#),
            Ok(("a".to_owned(), Some(1)))
        );
        assert_eq!(read(r#"{"name": "a"}"#), Ok(("a".to_owned(), None)));
    }

    #[test]
    fn all_faults_are_listed_each_once() {
        let messages = |json| -> Vec<String> {
            let faults = read(json).expect_err("a refused object");
            assert!(faults.iter().all(|fault| fault.code == "invalid-arguments"));
            faults.into_iter().map(|fault| fault.message).collect()
        };
        assert_eq!(messages("[]"), ["the arguments must be a JSON object"]);
        assert_eq!(messages("{}"), ["`name` must be a text"]);
        assert_eq!(
            messages(r#"{"name": null, "size": null, "x": 1, "y": 2}"#),
            [
                "`name` must be a text",
                "`size` must be an integer",
                r#"there is no argument "x""#,
                r#"there is no argument "y""#,
            ]
        );
    }
}
