//! What nodes are given and what they yield, to and from the journal.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::machine::IllegalTransition;
use crate::words::error::{Error, Facts, Fault, Kind};

/// A value for the journal.
#[must_use]
pub fn to_value<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("an operation can be written as JSON")
}

/// Reads an output of the journal.
///
/// # Errors
/// It has not the form that this version writes.
pub fn output<T: DeserializeOwned>(
    outputs: &[Value],
    node: usize,
    sequence: u64,
) -> Result<T, IllegalTransition> {
    let value = outputs.get(node).cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|error| IllegalTransition {
        sequence,
        reason: format!("the output of node {node} is unknown: {error}"),
    })
}

/// A stage gave a Worker something that it does not know.
#[derive(Debug, thiserror::Error)]
#[error("a node has an input that its worker does not know")]
struct UnknownInput(#[source] serde_json::Error);

impl Fault for UnknownInput {
    fn facts(&self) -> Facts {
        Facts::new(
            "unknown-node-input",
            Kind::Bug,
            "report this with the output of `wharf status`",
        )
    }
}

/// Reads a node's input.
pub(crate) fn input<T: DeserializeOwned>(inputs: &[&Value], at: usize) -> Result<T, Error> {
    let value = inputs.get(at).map_or(Value::Null, |value| (*value).clone());
    Ok(serde_json::from_value(value).map_err(UnknownInput)?)
}

/// Reads a node's input that is the text of JSON.
pub(crate) fn input_text<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    Ok(serde_json::from_str(text).map_err(UnknownInput)?)
}
