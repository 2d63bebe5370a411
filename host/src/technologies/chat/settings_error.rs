//! Why settings cannot be used.
//!
//! Made by the checks of the settings and by the making of a client. Names keys, files and variables, never what a variable
//! holds.

use std::path::PathBuf;

use crate::words::error::{Facts, Fault, Kind};

/// Why no client can be made of some settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatSettingsError {
    /// The value of a key is of no use.
    #[error("the provider's setting `{key}` cannot be used")]
    Key {
        /// The key, with dots between levels.
        key: String,
        /// Why.
        why: String,
        /// What to write.
        hint: String,
    },
    /// A variable that a key names is not set, or empty.
    #[error(
        "the environment variable {variable}, which the provider's setting `{key}` names, holds nothing"
    )]
    Variable {
        /// The key.
        key: String,
        /// The variable's name.
        variable: String,
    },
    /// What a variable holds cannot be a header's value.
    #[error(
        "the environment variable {variable}, which the provider's setting `{key}` names, cannot be sent in a header"
    )]
    NotAHeader {
        /// The key.
        key: String,
        /// The variable's name.
        variable: String,
    },
    /// The file of certificates is of no use.
    #[error("the file of certificates {} cannot be used", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// TLS is needed, and nobody is trusted.
    #[error("there are no certificates to check the server's by")]
    NobodyTrusted {
        /// What the system says.
        why: String,
    },
    /// The client cannot be made.
    #[error("the client of the provider cannot be made")]
    Client {
        /// What the library says.
        why: String,
    },
}

impl ChatSettingsError {
    pub(super) fn key(
        key: impl Into<String>,
        why: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Key {
            key: key.into(),
            why: why.into(),
            hint: hint.into(),
        }
    }
}

impl Fault for ChatSettingsError {
    fn facts(&self) -> Facts {
        match self {
            Self::Key { hint, .. } => {
                Facts::new("provider-setting", Kind::InvalidInput, hint.clone())
            }
            Self::Variable { variable, .. } => Facts::new(
                "provider-variable",
                Kind::InvalidInput,
                format!("set {variable} where wharf is started"),
            ),
            Self::NotAHeader { variable, .. } => Facts::new(
                "provider-variable",
                Kind::InvalidInput,
                format!("set {variable} to visible ASCII characters in one line"),
            ),
            Self::Certificates { .. } => Facts::new(
                "provider-ca-file",
                Kind::InvalidInput,
                "name a file with certificates in PEM, or leave `ca_file` out",
            ),
            Self::NobodyTrusted { .. } => Facts::new(
                "provider-no-roots",
                Kind::Unavailable,
                "install the system's CA certificates (the package is often called ca-certificates), or name a `ca_file`",
            ),
            Self::Client { .. } => Facts::new(
                "provider-client",
                Kind::Bug,
                "report it, with the provider's settings",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Key { why, .. }
            | Self::Certificates { why, .. }
            | Self::NobodyTrusted { why }
            | Self::Client { why } => Some(why.clone()),
            Self::Variable { .. } => Some("it is not set, or empty".into()),
            Self::NotAHeader { .. } => {
                Some("it holds a line's end or another character that no header may have".into())
            }
        }
    }
}
