//! The model that the configuration names, with the secrets that the environment holds.

use std::path::Path;

use wharf::{
    Error,
    host::Config,
    technologies::{
        chat::{ChatClient, ChatSettings, Surroundings},
        model_planner::ModelPlanner,
    },
};

use super::{environment::Environment, error::CliError};

/// The planner that the configuration means by `model`. Connects to nothing.
pub(super) fn planner(config: &Config, folder: &Path) -> Result<ModelPlanner, Error> {
    match config.provider() {
        Some((_, settings)) => Ok(ModelPlanner::new(client(settings, folder)?)),
        None => Err(CliError::NoModel {
            providers: config.providers.keys().cloned().collect(),
        }
        .into()),
    }
}

/// A client of a provider. Connects to nothing.
pub(super) fn client(settings: &ChatSettings, folder: &Path) -> Result<ChatClient, Error> {
    let surroundings = Surroundings::new(&Environment::secret, folder).with_environment_proxies();
    Ok(ChatClient::new(settings.clone(), &surroundings)?)
}
