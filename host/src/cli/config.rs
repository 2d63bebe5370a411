//! `--config`: what an operator sets in a file.

use std::path::{Path, PathBuf};

use clap::Args;
use wharf::{
    Error,
    host::{Config, MAX_CONFIG_BYTES},
};

use super::{error::CliError, input};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// Limits of plugins and of the workspace; default: the standard ones.
    #[arg(long, value_name = "wharf.toml")]
    config: Option<PathBuf>,
}

impl ConfigArgs {
    /// Reads the file, where one is named.
    pub(super) fn read(&self) -> Result<Config, Error> {
        match &self.config {
            None => Ok(Config::standard()),
            Some(path) => read(path),
        }
    }

    /// None was named.
    #[cfg(test)]
    pub(super) const fn none() -> Self {
        Self { config: None }
    }
}

fn read(path: &Path) -> Result<Config, Error> {
    let text = input::text("configuration", path, MAX_CONFIG_BYTES)?;
    Config::read(&text).map_err(|fault| {
        CliError::Config {
            path: path.into(),
            fault,
        }
        .into()
    })
}
