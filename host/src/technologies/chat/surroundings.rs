//! What a client takes from its surroundings, handed in by whoever may look at them.

use std::{fmt, path::Path};

/// The environment and the folder that settings speak of. Used while a client is made, and not kept.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Surroundings<'a> {
    /// What the environment variable of that name holds.
    pub secret: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that a relative `ca_file` starts from.
    pub folder: &'a Path,
    /// Whether settings without a `proxy` follow HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in capitals or not, as `secret`
    /// gives them out. No, to begin with.
    pub environment_proxies: bool,
}

impl<'a> Surroundings<'a> {
    /// An environment and a folder, and no proxy.
    #[must_use]
    pub fn new(secret: &'a dyn Fn(&str) -> Option<String>, folder: &'a Path) -> Self {
        Self {
            secret,
            folder,
            environment_proxies: false,
        }
    }

    /// With the proxies that the environment names.
    #[must_use]
    pub fn with_environment_proxies(self) -> Self {
        Self {
            environment_proxies: true,
            ..self
        }
    }

    /// What a variable holds, unless that is nothing.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.secret)(name).filter(|value| !value.trim().is_empty())
    }
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("folder", &self.folder)
            .field("environment_proxies", &self.environment_proxies)
            .finish_non_exhaustive()
    }
}
