//! What is wrong with a configuration.

use crate::words::error::{Facts, Fault, Kind};

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not TOML.
    #[error("the configuration is not TOML")]
    NotToml {
        /// Where and why.
        reason: String,
    },
    /// A variable that would set a key cannot be understood.
    #[error("the environment variable {variable} sets no key of the configuration")]
    Variable {
        /// Its name.
        variable: String,
        /// Why.
        reason: String,
    },
    /// A key is unknown, missing or has a value that it cannot have.
    #[error("the configuration is wrong at `{key}`")]
    Wrong {
        /// Its place.
        key: String,
        /// Why.
        reason: String,
    },
}

impl ConfigError {
    pub(super) fn variable(variable: &str, reason: impl Into<String>) -> Self {
        Self::Variable {
            variable: variable.to_owned(),
            reason: reason.into(),
        }
    }

    pub(super) fn wrong(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Wrong {
            key: key.into(),
            reason: reason.into(),
        }
    }
}

impl Fault for ConfigError {
    fn facts(&self) -> Facts {
        Facts::new(
            "config-invalid",
            Kind::InvalidInput,
            "correct it; docs/wharf.example.toml shows every key with its default. Nothing was done",
        )
    }

    fn why(&self) -> Option<String> {
        let (Self::NotToml { reason } | Self::Variable { reason, .. } | Self::Wrong { reason, .. }) =
            self;
        Some(reason.clone())
    }
}
