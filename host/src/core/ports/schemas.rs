//! JSON Schemas: compiled once, asked for each value.

use std::sync::Arc;

use serde_json::Value;

use crate::words::{error::Error, json::JsonText};

/// Compiles the JSON Schemas of tools (draft 2020-12). Neither compiling nor checking takes long, whatever schema and value.
pub trait Schemas: Send + Sync {
    /// A schema that is refused is an error of kind `invalid-input`. `tool` is for its words.
    fn compile(&self, tool: &str, schema: &JsonText) -> Result<Arc<dyn SchemaCheck>, Error>;
}

/// One compiled schema.
pub trait SchemaCheck: Send + Sync {
    /// What it has against a value, each fault once, with its place as a JSON pointer; at most 21 lines of at most 700 bytes,
    /// escaped. None: it fits.
    fn faults(&self, value: &Value) -> Vec<String>;
}
