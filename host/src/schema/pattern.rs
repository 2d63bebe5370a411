//! What a pattern costs.
//!
//! Owns how large the patterns of one plugin may be, and how long a match can take: it is linear in the text, but each byte
//! costs as much as the compiled pattern has states, in the worst case. Called by `cost.rs`.

use std::collections::BTreeMap;

use serde_json::json;

use super::{SchemaFault, options};

/// Bytes of all different patterns of a plugin together.
pub(super) const MAX_PATTERN_BYTES: usize = 4 * 1024;

/// Bytes of a pattern as the engine compiles it.
pub(super) const MAX_COMPILED: usize = SIZES[0].0;

/// Compiled bytes, and the checks that a match then costs at most for a unit of text. Measured with patterns whose states
/// multiply, such as `[ab]*a[ab]{50}c`, on texts of 64 KiB.
const SIZES: [(usize, u64); 4] = [
    (64 * 1024, 48_000),
    (16 * 1024, 12_000),
    (4 * 1024, 3_600),
    (1024, 30),
];

/// The different patterns of one plugin, and what each costs.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    bytes: usize,
    known: BTreeMap<String, u64>,
}

impl Patterns {
    /// The checks that a match costs for a unit of text.
    pub(super) fn cost(&mut self, pattern: &str) -> Result<u64, SchemaFault> {
        if let Some(cost) = self.known.get(pattern) {
            return Ok(*cost);
        }
        self.bytes = self.bytes.saturating_add(pattern.len());
        if self.bytes > MAX_PATTERN_BYTES {
            return Err(SchemaFault::PatternBytes);
        }
        let cost = SIZES
            .iter()
            .take_while(|(size, _)| compiles_within(pattern, *size))
            .last()
            .map(|(_, cost)| *cost)
            .ok_or_else(|| SchemaFault::Pattern(pattern.to_owned()))?;
        self.known.insert(pattern.to_owned(), cost);
        Ok(cost)
    }
}

/// The engine tells nobody how large a pattern is, but whether it is larger than a limit.
fn compiles_within(pattern: &str, size: usize) -> bool {
    options(size).build(&json!({"pattern": pattern})).is_ok()
}
