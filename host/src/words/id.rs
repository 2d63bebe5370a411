//! Identifiers: `[A-Za-z0-9_-]{1,80}`, checked once at the edge and never again.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The text is not an identifier.
#[derive(Debug, thiserror::Error)]
#[error("an identifier has 1 to 80 letters, digits, `_` or `-` of ASCII")]
pub struct InvalidId;

/// Whether `text` is `[A-Za-z0-9_-]{1,80}`.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    (1..=80).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The text of the identifier.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                if is_identifier(&text) { Ok(Self(text)) } else { Err(InvalidId) }
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    )*};
}

identifiers! {
    /// Names one task within its workspace.
    TaskId;
    /// Names the tenant that owns a workspace.
    TenantId;
    /// Names who asked for a task; permission is given to principals.
    PrincipalId;
    /// Names a step within one plan; plan version and step id together name a step.
    StepId;
    /// Names a plugin: the name in its descriptor.
    PluginName;
}

/// Names one run of a task by one process; a resume is another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(uuid::Uuid);

impl RunId {
    /// A new one; later runs sort behind earlier ones.
    #[must_use]
    pub fn beginning_at(now: Timestamp) -> Self {
        Self(uuid_at(now))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A new UUIDv7 in its usual form; those of later milliseconds sort behind those of earlier ones.
#[must_use]
pub fn unique_at(now: Timestamp) -> String {
    uuid_at(now).to_string()
}

fn uuid_at(now: Timestamp) -> uuid::Uuid {
    let seconds = u64::try_from(now.as_second()).unwrap_or(0);
    let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
    let stamp = uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos);
    uuid::Uuid::new_v7(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_plain_ascii_is_an_identifier() {
        assert!(is_identifier("TASK-1001_a"));
        assert!(is_identifier(&"x".repeat(80)));
        for bad in [
            "",
            &"x".repeat(81),
            "a b",
            "a/b",
            "..",
            "a.b",
            "аdmin",
            "a\0",
            "a\n",
        ] {
            assert!(!is_identifier(bad), "{bad:?}");
        }
    }
}
