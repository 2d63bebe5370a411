//! How much there is of a JSON value.
//!
//! Owns the unit of all bounds of this folder: one for each value and each name, and one more for each 16 bytes of text.

use serde_json::Value;

pub(super) fn of(value: &Value) -> u64 {
    match value {
        Value::String(text) => of_text(text),
        Value::Array(items) => 1 + items.iter().map(of).sum::<u64>(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| of_text(name) + of(value);
            1 + members.iter().map(member).sum::<u64>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

pub(super) fn of_text(text: &str) -> u64 {
    1 + text.len() as u64 / 16
}
