//! `[defaults]`: what holds where the command line does not say.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use crate::{
    technologies::{chat::ChatSettings, redis_address::RedisAddress},
    words::scrub::scrub,
};

/// What holds where the command line does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Defaults {
    /// Who proposes plans: `search`, `model`, or `script:` and a file, which is sought from the folder of the configuration.
    #[serde(default)]
    #[schemars(with = "Option<String>", regex(pattern = "^(search|model|script:.+)$"))]
    pub planner: Option<PlannerName>,
    /// The provider whose model proposes plans, by its name under `providers`. Not needed where there is only one.
    #[serde(default)]
    pub provider: Option<String>,
    /// Where working sets are kept: `embedded`, or a Redis at `redis://[USER@]HOST[:PORT][/DATABASE]`. Its password stands in
    /// the environment variable `WHARF_REDIS_PASSWORD`.
    #[serde(default)]
    pub context: Option<String>,
}

/// Who proposes plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PlannerName {
    /// A search over the plugin's tools.
    Search,
    /// The answers in a file.
    Script(PathBuf),
    /// A model.
    Model,
}

impl Defaults {
    /// Nothing.
    pub(super) const fn none() -> Self {
        Self {
            planner: None,
            provider: None,
            context: None,
        }
    }

    /// What cannot be said without the rest of the file.
    pub(super) fn check(
        &self,
        providers: &BTreeMap<String, ChatSettings>,
    ) -> Result<(), ConfigError> {
        match &self.provider {
            Some(name) if !providers.contains_key(name) => {
                let known: Vec<_> = providers.keys().map(String::as_str).collect();
                let known = match &known[..] {
                    [] => "there is none at all".to_owned(),
                    known => format!("there are: {}", known.join(", ")),
                };
                return Err(ConfigError::wrong(
                    "defaults.provider",
                    scrub(format!("there is no table `providers.{name}`; {known}")),
                ));
            }
            _ => (),
        }
        self.check_context()
    }

    fn check_context(&self) -> Result<(), ConfigError> {
        const KEY: &str = "defaults.context";
        let Some(context) = self.context.as_deref().filter(|name| *name != "embedded") else {
            return Ok(());
        };
        // What is wrong may be a password in the wrong place: nothing of it is repeated.
        let address = RedisAddress::parse(context).map_err(|error| {
            ConfigError::wrong(KEY, format!("it is not `embedded`, and {error}"))
        })?;
        if address.has_password() {
            return Err(ConfigError::wrong(
                KEY,
                "it holds a password: leave it out, and set WHARF_REDIS_PASSWORD where wharf is started",
            ));
        }
        Ok(())
    }
}

impl From<PlannerName> for String {
    fn from(name: PlannerName) -> Self {
        match name {
            PlannerName::Search => "search".into(),
            PlannerName::Model => "model".into(),
            PlannerName::Script(file) => format!("script:{}", file.display()),
        }
    }
}

impl TryFrom<String> for PlannerName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "search" => Ok(Self::Search),
            "model" => Ok(Self::Model),
            _ => text
                .strip_prefix("script:")
                .filter(|file| !file.is_empty())
                .map(|file| Self::Script(file.into()))
                .ok_or("it is `search`, `model`, or `script:` and a file"),
        }
    }
}
