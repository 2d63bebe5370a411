//! The JSON Schemas that plugins and tools declare, and what they have against arguments.
//!
//! Owns the bounds. Neither compiling nor validating runs in a sandbox, and neither is interrupted, so both must be short
//! whatever a plugin declares and a model answers: references are put in their place first (`inline.rs`), the result has a
//! bounded number of keywords, and what validating can cost is known before it begins (`cost.rs`, `pattern.rs`). Never calls
//! a plugin. Used by the plugin layer, and through its port by the core's tools.

mod arguments;
mod cost;
mod inline;
mod keyword;
mod pattern;
mod size;

#[cfg(test)]
mod tests;

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};

use self::{
    cost::Cost,
    pattern::{MAX_COMPILED, MAX_PATTERN_BYTES, Patterns},
};
use crate::words::json::JsonText;

pub(crate) use self::arguments::ArgumentsSchemas;
pub use self::arguments::ToolSchemas;

/// Keywords and values of all schemas of a plugin together, references put in their place: each counts one, and one more for
/// each 16 bytes of text. What an `unevaluated...` keyword looks at again counts again. Compiling so many takes about 10 ms.
const MAX_NODES: u64 = 10_000;

/// Subschemas inside each other, references put in their place.
const MAX_DEPTH: usize = 32;

/// Bytes of the state that a pattern keeps while it matches; it is faster with more.
const MATCH_CACHE: usize = 256 * 1024;

/// A compiled schema, and what it costs.
#[derive(Debug)]
struct Schema {
    validator: Validator,
    cost: Cost,
}

/// Compiles the schemas of one plugin, which share its bounds.
#[derive(Debug, Default)]
pub(crate) struct SchemaCompiler {
    nodes: u64,
    patterns: Patterns,
}

impl SchemaCompiler {
    /// Checks a schema that the host does not apply.
    pub(crate) fn check(&mut self, schema: &JsonText) -> Result<(), SchemaFault> {
        self.compile(schema).map(drop)
    }

    fn compile(&mut self, schema: &JsonText) -> Result<Schema, SchemaFault> {
        let schema = inline::inlined(&schema.value())?;
        let cost = cost::of(&schema, &mut self.patterns)?;
        self.nodes = self.nodes.saturating_add(cost.nodes);
        if self.nodes > MAX_NODES {
            return Err(SchemaFault::TooLarge);
        }
        let validator = options(MAX_COMPILED).build(&schema).map_err(|error| {
            let place = error.instance_path().as_str().to_owned();
            SchemaFault::Invalid {
                place,
                reason: error.to_string(),
            }
        })?;
        Ok(Schema { validator, cost })
    }
}

/// Draft 2020-12, nothing fetched, `format` an annotation, and an engine for patterns that is linear in the text.
fn options(compiled_pattern: usize) -> ValidationOptions<'static> {
    let patterns = PatternOptions::regex()
        .size_limit(compiled_pattern)
        .dfa_size_limit(MATCH_CACHE);
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(patterns)
}

/// Why a schema is not used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaFault {
    #[error("the reference {0} does not stay inside the schema, or has more than 1000 bytes")]
    Outside(String),
    #[error("the reference {0:?} leads to no subschema")]
    Unknown(String),
    #[error("the reference {0:?} leads back to itself")]
    Recursion(String),
    #[error("the anchor {0:?} stands twice")]
    Anchor(String),
    #[error("the dialect {0} is not draft 2020-12")]
    Dialect(String),
    #[error("the keyword `{0}` is not used here")]
    Keyword(String),
    #[error("more than {MAX_DEPTH} subschemas stand inside each other")]
    TooDeep,
    #[error(
        "with it, the plugin's schemas have more than {MAX_NODES} keywords and values once references are put in their place"
    )]
    TooLarge,
    #[error("with it, the plugin's patterns have more than {MAX_PATTERN_BYTES} bytes")]
    PatternBytes,
    #[error(
        "the pattern {0:?} is no regular expression, looks around or back, or has more than {MAX_COMPILED} bytes when it is compiled"
    )]
    Pattern(String),
    #[error("at {place:?}: {reason}")]
    Invalid {
        /// A JSON pointer; each reference is a member of `allOf`.
        place: String,
        /// In the library's words.
        reason: String,
    },
}
