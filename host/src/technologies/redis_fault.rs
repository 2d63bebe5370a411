//! What a Redis refuses, and what goes wrong on the way to it.
//!
//! Owns the translation of the client's errors into our own. No error here holds an address, a user or a password. Made by
//! [`RedisContext`](super::redis_context::RedisContext).

use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::redis_address::RedisAddress;
use crate::words::{
    error::{Facts, Fault, Kind},
    escape::escaped,
};

/// The most characters of a server's own words that are repeated.
const MOST_WORDS: usize = 200;

const NOT_OURS: &str =
    "find out who writes there; delete the key, or name another database; then resume";

/// Why a Redis did not do what it was asked. `place` is host, port and database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedisFault {
    /// There is no connection, or it broke.
    #[error("the Redis at {place} cannot be reached")]
    Unreachable {
        /// Where.
        place: String,
        /// What the system says.
        why: String,
    },
    /// It did not answer in time.
    #[error("the Redis at {place} did not answer")]
    Silent {
        /// Where.
        place: String,
        /// How long was waited.
        waited: Duration,
    },
    /// What answers speaks another protocol.
    #[error("what answers at {place} is not a Redis")]
    OtherProtocol {
        /// Where.
        place: String,
    },
    /// User, password or permissions are not enough.
    #[error("the Redis at {place} does not let us in")]
    Denied {
        /// Where.
        place: String,
        /// Its own words, if it has any.
        words: String,
    },
    /// It is a replica.
    #[error("the Redis at {place} takes no writes")]
    ReadOnly {
        /// Where.
        place: String,
        /// Its own words.
        words: String,
    },
    /// It is full, and evicts nothing.
    #[error("the Redis at {place} has no memory left")]
    OutOfMemory {
        /// Where.
        place: String,
        /// Its own words.
        words: String,
    },
    /// What stands under the key is of another type.
    #[error("the Redis at {place} holds another type of value under the key {key}")]
    WrongType {
        /// Where.
        place: String,
        /// The key.
        key: String,
        /// Its own words.
        words: String,
    },
    /// What stands under the key is no working set.
    #[error("the Redis at {place} holds something else under the key {key}")]
    Foreign {
        /// Where.
        place: String,
        /// The key.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// It refuses for another reason.
    #[error("the Redis at {place} refuses")]
    Refused {
        /// Where.
        place: String,
        /// Its own words.
        words: String,
    },
}

impl RedisFault {
    /// What the client's error means. `key` is what the command was about.
    pub(super) fn of(address: &RedisAddress, key: &str, error: &RedisError) -> Self {
        let place = address.to_string();
        let words = words(address, error);
        match (error.kind(), error.code()) {
            (ErrorKind::Io, _) => {
                let why = if error.is_connection_dropped() && !error.is_connection_refusal() {
                    format!(
                        "the connection was closed ({words}), as a server with too many clients does"
                    )
                } else {
                    words
                };
                Self::Unreachable { place, why }
            }
            // The client has no type for it; a test shows that its words are still the same.
            (ErrorKind::Parse, _)
                if error
                    .detail()
                    .is_some_and(|detail| detail.contains("end of input")) =>
            {
                let why = "the connection was closed in the middle of an answer".into();
                Self::Unreachable { place, why }
            }
            (ErrorKind::Parse | ErrorKind::UnexpectedReturnType, _) => {
                Self::OtherProtocol { place }
            }
            (ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm), _)
            | (_, Some("NOAUTH" | "WRONGPASS")) => Self::Denied { place, words },
            (ErrorKind::Server(ServerErrorKind::ReadOnly), _) => Self::ReadOnly { place, words },
            (_, Some("OOM")) => Self::OutOfMemory { place, words },
            // Said by some servers, and at some moments, before they hang up.
            _ if words.contains("max number of clients") => Self::Unreachable {
                place,
                why: format!("the server has too many clients ({words})"),
            },
            (_, Some("WRONGTYPE")) => Self::WrongType {
                place,
                key: escaped(key),
                words,
            },
            _ => Self::Refused { place, words },
        }
    }
}

/// The server's words or the system's, in one line, bounded, and without our secrets.
fn words(address: &RedisAddress, error: &RedisError) -> String {
    let text = match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    };
    let text = escaped(&address.without_secrets(&text));
    match text.char_indices().nth(MOST_WORDS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Whether the connection is of no use any more.
pub(super) fn ends_connection(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error()
}

impl Fault for RedisFault {
    fn facts(&self) -> Facts {
        let (code, hint) = match self {
            Self::Unreachable { .. } => (
                "context-unavailable",
                "check the address and start the server; then resume, or resume with `--context embedded`",
            ),
            Self::Silent { .. } => (
                "context-timeout",
                "check the server and the way to it; then resume, or resume with `--context embedded`",
            ),
            Self::OtherProtocol { .. } => (
                "context-protocol",
                "check host and port; a server that only speaks TLS needs a tunnel",
            ),
            Self::Denied { .. } => (
                "context-denied",
                "check user and password, and that the user may GETRANGE, SET, DEL, EVALSHA and SCRIPT LOAD on keys `wharf:*`",
            ),
            Self::ReadOnly { .. } => (
                "context-read-only",
                "name the primary, or make this server one; then resume",
            ),
            Self::OutOfMemory { .. } => (
                "context-out-of-memory",
                "raise `maxmemory`, or let the server evict keys that expire (`maxmemory-policy volatile-ttl`); then resume",
            ),
            Self::WrongType { .. } => ("context-wrong-type", NOT_OURS),
            Self::Foreign { .. } => ("context-foreign-value", NOT_OURS),
            Self::Refused { .. } => (
                "context-refused",
                "repair what the server names; then resume, or resume with `--context embedded`",
            ),
        };
        Facts::new(code, Kind::Unavailable, hint)
    }

    fn why(&self) -> Option<String> {
        Some(match self {
            Self::Unreachable { why, .. } | Self::Foreign { why, .. } => why.clone(),
            Self::Silent { waited, .. } => {
                format!("there was no answer within {} seconds", waited.as_secs())
            }
            Self::OtherProtocol { .. } => "its answer is not in the protocol of Redis".into(),
            Self::Denied { words, .. }
            | Self::ReadOnly { words, .. }
            | Self::OutOfMemory { words, .. }
            | Self::WrongType { words, .. }
            | Self::Refused { words, .. } => words.clone(),
        })
    }
}
