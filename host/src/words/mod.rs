//! The lowest layer: the words every other layer speaks.
//!
//! Identifiers, digests, JSON text, time, errors and text that is safe to show. Nothing here does IO, and nothing here knows what a
//! task, a plan or a plugin is.

pub mod clock;
pub mod digest;
pub mod error;
pub mod escape;
#[cfg(test)]
pub(crate) mod events;
pub mod id;
pub mod json;
pub mod scrub;
pub mod stopwatch;
