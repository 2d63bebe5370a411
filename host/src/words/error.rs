//! The one public error, and what every module says of its own.
//!
//! Each module has a `thiserror` enum and implements [`Fault`] for it; `?` turns it into [`Error`], which an
//! edge (command line, server) renders in three lines: what happened, why, what to do next.

use std::{borrow::Cow, error::Error as StdError, fmt};

use serde::Serialize;

/// What sort of failure it is: enough to choose an exit code, a status code or a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// What was handed in is wrong; handing it in again will fail again.
    InvalidInput,
    /// A policy does not allow it.
    Denied,
    /// Somebody else owns it, or something else already stands there.
    Conflict,
    /// A store, a model or the disk does not answer; trying again later may work.
    Unavailable,
    /// A bound was reached.
    Limit,
    /// The plugin trapped, exceeded a limit or answered outside the contract.
    PluginFault,
    /// What was stored is not what was written.
    Corrupt,
    /// A promise inside Wharf was broken.
    Bug,
}

impl Kind {
    const fn in_general(self) -> &'static str {
        match self {
            Self::InvalidInput => "the input does not follow its documented form",
            Self::Denied => "the policy in force does not allow it",
            Self::Conflict => "it is taken, or something else already stands there",
            Self::Unavailable => "something that it needs does not answer",
            Self::Limit => "a bound that is set for it was reached",
            Self::PluginFault => "the plugin did not keep the contract",
            Self::Corrupt => "the stored bytes are not those that were written",
            Self::Bug => "a promise inside Wharf was broken",
        }
    }
}

/// The stable facts of one failure.
#[derive(Debug, Clone)]
pub struct Facts {
    /// A stable kebab-case code for scripts.
    pub code: &'static str,
    /// The sort of failure.
    pub kind: Kind,
    /// What to do next.
    pub hint: Cow<'static, str>,
}

impl Facts {
    /// The facts of one failure.
    #[must_use]
    pub fn new(code: &'static str, kind: Kind, hint: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            kind,
            hint: hint.into(),
        }
    }
}

/// Implemented by the error enum of each module. `Display` says what happened and never repeats the cause.
pub trait Fault: StdError + Send + Sync + 'static {
    /// Code, kind and hint.
    fn facts(&self) -> Facts;

    /// Why it happened, where no source says it.
    fn why(&self) -> Option<String> {
        None
    }
}

/// Any failure of Wharf. `Display` says what happened.
pub struct Error(Box<dyn Fault>);

impl Error {
    /// A stable kebab-case code for scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.facts().code
    }

    /// The sort of failure.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.facts().kind
    }

    /// What to do next, in one line.
    #[must_use]
    pub fn hint(&self) -> Cow<'static, str> {
        self.0.facts().hint
    }

    /// Why it happened, in one line: the causes, outermost first.
    #[must_use]
    pub fn why(&self) -> String {
        if let Some(why) = self.0.why() {
            return why;
        }
        let mut causes = Vec::new();
        let mut next = self.0.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        if causes.is_empty() {
            self.kind().in_general().to_owned()
        } else {
            causes.join(": ")
        }
    }
}

impl<F: Fault> From<F> for Error {
    fn from(fault: F) -> Self {
        Self(Box::new(fault))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {self}: {}", self.code(), self.why())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the file {path} cannot be read")]
    struct Unreadable {
        path: &'static str,
        source: std::io::Error,
    }

    impl Fault for Unreadable {
        fn facts(&self) -> Facts {
            Facts::new(
                "file-unreadable",
                Kind::Unavailable,
                "check its permissions",
            )
        }
    }

    #[test]
    fn an_error_tells_what_why_and_what_to_do_without_repeating_itself() {
        let error = Error::from(Unreadable {
            path: "a.json",
            source: std::io::Error::other("disk on fire"),
        });
        assert_eq!(error.to_string(), "the file a.json cannot be read");
        assert_eq!(error.why(), "disk on fire");
        assert_eq!(error.hint(), "check its permissions");
        assert_eq!(
            (error.code(), error.kind()),
            ("file-unreadable", Kind::Unavailable)
        );
    }
}
