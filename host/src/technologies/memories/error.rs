//! Why the memory refuses a call.

use crate::{
    core::ports::memories::{MAX_DEPTH, MemoryId},
    words::error::{Facts, Fault, Kind},
};

/// A call that was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoriesError {
    /// More than is allowed.
    #[error("{found} {what} are more than the {allowed} that a memory takes")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How much was given.
        found: usize,
        /// The bound.
        allowed: usize,
    },
    /// Nested too deep.
    #[error("the {what} of an object is nested deeper than {MAX_DEPTH}")]
    TooDeep {
        /// Content or metadata.
        what: &'static str,
    },
    /// A text of white space alone, or a limit of zero.
    #[error("the {what} is blank or zero")]
    Blank {
        /// Which.
        what: &'static str,
    },
    /// A category stands twice.
    #[error("an object is filed under one category twice")]
    Twice,
    /// There is no such object, and it was to be changed.
    #[error("the memory has no object `{id}`")]
    Unknown {
        /// Its id.
        id: MemoryId,
    },
    /// The object has another version than the expected one.
    #[error("the object `{id}` has version {stored}, and {expected} was expected")]
    Conflict {
        /// Its id.
        id: MemoryId,
        /// What was expected; 0: no object.
        expected: u64,
        /// What is there; 0: no object.
        stored: u64,
    },
    /// A search takes too long.
    #[error("the search took longer than {} seconds", super::search::MAX_TIME.as_secs())]
    SearchTooLong,
    /// The database was opened for reading only.
    #[error("the memory was opened for reading only")]
    ReadOnly,
}

impl Fault for MemoriesError {
    fn facts(&self) -> Facts {
        match self {
            Self::TooMuch { .. } | Self::TooDeep { .. } | Self::Blank { .. } | Self::Twice => {
                Facts::new(
                    "memory-out-of-bounds",
                    Kind::InvalidInput,
                    "give less, or spread it over several objects; nothing was changed",
                )
            }
            Self::Unknown { .. } => Facts::new(
                "memory-unknown",
                Kind::InvalidInput,
                "check the id, or keep the object first",
            ),
            Self::Conflict { .. } => Facts::new(
                "memory-conflict",
                Kind::Conflict,
                "read the object again, and repeat the change on what is there now",
            ),
            Self::SearchTooLong => Facts::new(
                "memory-search-too-long",
                Kind::Limit,
                "look for fewer or rarer words, or in a scope",
            ),
            Self::ReadOnly => Facts::new(
                "memory-read-only",
                Kind::Bug,
                "report it: a command that only reads tried to write",
            ),
        }
    }
}
