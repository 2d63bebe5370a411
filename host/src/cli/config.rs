//! `--config`, and the environment: what an operator sets.

use std::path::PathBuf;

use clap::Args;
use wharf::{
    Error,
    host::{Config, MAX_CONFIG_BYTES, Overrides},
};

use super::{environment::Environment, error::CliError, input};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// Providers of models, defaults, limits of plugins and of the workspace; default: the standard limits, and no provider.
    #[arg(long, value_name = "wharf.toml")]
    config: Option<PathBuf>,
}

/// What was read.
pub(super) struct Configured {
    /// All of it.
    pub(super) config: Config,
    /// Where the relative paths in it begin.
    pub(super) folder: PathBuf,
}

impl ConfigArgs {
    /// Reads the file, where one is named, and the variables of the environment that set keys of it.
    pub(super) fn read(&self, environment: &Environment) -> Result<Configured, Error> {
        let (text, folder) = match &self.config {
            None => (String::new(), PathBuf::new()),
            Some(path) => {
                let text = input::text("configuration", path, MAX_CONFIG_BYTES)?;
                let folder = path.parent().map(PathBuf::from).unwrap_or_default();
                (text, folder)
            }
        };
        let config = Overrides::of(environment.config.iter().cloned())
            .and_then(|overrides| Config::read_with(&text, &overrides))
            .map_err(|fault| match &self.config {
                Some(path) => CliError::Config {
                    path: path.clone(),
                    fault,
                }
                .into(),
                None => Error::from(fault),
            })?;
        Ok(Configured { config, folder })
    }
}
