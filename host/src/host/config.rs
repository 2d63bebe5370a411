//! `wharf.toml`: what an operator sets.
//!
//! Owns the form of the file. A table takes every key of what it sets, or a preset and what differs from it; an unknown key, a
//! missing one, a zero and a limit that nothing would enforce are refused, each with its place.

use std::{collections::BTreeMap, num::NonZeroU64};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use toml::{Table, Value};

use super::limits::{Allowance, HostLimits};
use crate::{
    business::{CallSqlLimits, DatabaseLimits},
    core::metering::FuelBudgets,
    plugin::{EngineLimits, PluginLimits},
    words::{
        error::{Facts, Fault, Kind},
        id::PluginName,
    },
};

/// The most bytes of a configuration file.
pub const MAX_CONFIG_BYTES: usize = 256 * 1024;

/// What a configuration file says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Limits.
    pub limits: HostLimits,
}

impl Config {
    /// What holds without a file.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            limits: HostLimits::standard(),
        }
    }

    /// Reads the text of a file. What it does not set is standard.
    ///
    /// # Errors
    /// The first thing that is wrong, with the place of it.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        let mut root: Table =
            text.parse()
                .map_err(|error: toml::de::Error| ConfigError::NotToml {
                    reason: error.to_string().trim_end().replace('\n', " "),
                })?;
        let engine = table(&mut root, "engine")?;
        let database = table(&mut root, "database")?;
        let workspace = table(&mut root, "workspace")?;
        let others = table(&mut root, "plugin")?;
        let plugins = table(&mut root, "plugins")?;
        known(
            &root,
            "",
            &["database", "engine", "plugin", "plugins", "workspace"],
        )?;

        let engine = match engine {
            Some(table) => complete(
                "engine",
                table,
                &[
                    ("standard", EngineLimits::standard()),
                    ("small", EngineLimits::small()),
                ],
            )?,
            None => EngineLimits::standard(),
        };
        let database = match database {
            Some(table) => complete(
                "database",
                table,
                &[("standard", DatabaseLimits::standard())],
            )?,
            None => DatabaseLimits::standard(),
        };
        let others = match others {
            Some(table) => allowance("plugin", table)?,
            None => Allowance::standard(),
        };
        let mut named = BTreeMap::new();
        for (name, value) in plugins.unwrap_or_default() {
            let at = format!("plugins.{name}");
            let Value::Table(table) = value else {
                return Err(ConfigError::wrong(at, "it is not a table"));
            };
            let plugin: PluginName = name
                .parse()
                .map_err(|_| ConfigError::wrong(&at, "it is not the name of a plugin"))?;
            named.insert(plugin, allowance(&at, table)?);
        }
        let fuel = match workspace {
            Some(table) => deserialize::<WorkspaceTable>("workspace", table)?,
            None => WorkspaceTable::default(),
        };
        let limits = HostLimits {
            engine,
            database,
            others,
            plugins: named,
            fuel: FuelBudgets {
                task: fuel.task_fuel,
                workspace: fuel.fuel,
            },
        };
        check_metered(&limits)?;
        Ok(Self { limits })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkspaceTable {
    fuel: Option<NonZeroU64>,
    task_fuel: Option<NonZeroU64>,
}

/// A budget that no call is charged to is no budget.
fn check_metered(limits: &HostLimits) -> Result<(), ConfigError> {
    let key = match limits.fuel {
        FuelBudgets {
            task: None,
            workspace: None,
        } => return Ok(()),
        FuelBudgets {
            workspace: Some(_), ..
        } => "workspace.fuel",
        FuelBudgets { .. } => "workspace.task_fuel",
    };
    let mut unmetered = limits
        .plugins
        .iter()
        .filter(|(_, plugin)| plugin.sandbox.fuel.is_none())
        .map(|(name, _)| format!("plugins.{name}"))
        .chain(
            limits
                .others
                .sandbox
                .fuel
                .is_none()
                .then(|| "plugin".to_owned()),
        );
    match unmetered.next() {
        None => Ok(()),
        Some(table) => Err(ConfigError::wrong(
            key,
            format!(
                "the calls of `{table}` are not metered, so nothing would be charged: give that table `fuel` as well"
            ),
        )),
    }
}

fn allowance(at: &str, mut given: Table) -> Result<Allowance, ConfigError> {
    let sql = match given.remove("sql") {
        None => CallSqlLimits::standard(),
        Some(Value::Table(table)) => complete(
            &format!("{at}.sql"),
            table,
            &[("standard", CallSqlLimits::standard())],
        )?,
        Some(_) => return Err(ConfigError::wrong(format!("{at}.sql"), "it is not a table")),
    };
    let sandbox = complete(
        at,
        given,
        &[
            ("standard", PluginLimits::standard()),
            ("interpreter", PluginLimits::interpreter()),
        ],
    )?;
    Ok(Allowance { sandbox, sql })
}

/// A preset and what differs from it, or every key.
fn complete<T: Serialize + DeserializeOwned>(
    at: &str,
    mut given: Table,
    presets: &[(&str, T)],
) -> Result<T, ConfigError> {
    let names = || {
        let names: Vec<_> = presets
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        names.join(", ")
    };
    let preset = given.remove("preset");
    let all = |limits: &T| Table::try_from(limits).expect("limits are a table of numbers");
    let base = match &preset {
        None => {
            let standard = all(&presets[0].1);
            let missing: Vec<_> = standard
                .keys()
                .filter(|key| !given.contains_key(*key))
                .map(|key| format!("`{key}`"))
                .collect();
            if !missing.is_empty() {
                return Err(ConfigError::wrong(
                    at,
                    format!(
                        "it has neither a `preset` (one of {}) nor {}",
                        names(),
                        missing.join(", ")
                    ),
                ));
            }
            Table::new()
        }
        Some(Value::String(name)) => match presets.iter().find(|(known, _)| known == name) {
            Some((_, limits)) => all(limits),
            None => {
                return Err(ConfigError::wrong(
                    format!("{at}.preset"),
                    format!("`{name}` is none of {}", names()),
                ));
            }
        },
        Some(_) => {
            return Err(ConfigError::wrong(
                format!("{at}.preset"),
                format!("it is not one of {}", names()),
            ));
        }
    };
    let merged = base.into_iter().chain(given).collect();
    deserialize(at, merged)
}

fn deserialize<T: DeserializeOwned>(at: &str, table: Table) -> Result<T, ConfigError> {
    table.try_into().map_err(|error: toml::de::Error| {
        // The key stands in the last line: "in `key`".
        let text = error.to_string();
        let (reason, key) = match text.trim_end().rsplit_once("\nin `") {
            Some((reason, key)) => (reason, Some(key.trim_end_matches('`'))),
            None => (text.trim_end(), None),
        };
        let unknown = reason.strip_prefix("unknown field `");
        let unknown = unknown.and_then(|rest| Some(rest.split_once('`')?.0));
        let key = key
            .or(unknown)
            .map_or_else(|| at.to_owned(), |key| format!("{at}.{key}"));
        ConfigError::wrong(key, reason.replace('\n', " "))
    })
}

/// Takes a table out, if it is there.
fn table(root: &mut Table, key: &str) -> Result<Option<Table>, ConfigError> {
    match root.remove(key) {
        None => Ok(None),
        Some(Value::Table(table)) => Ok(Some(table)),
        Some(_) => Err(ConfigError::wrong(key, "it is not a table")),
    }
}

/// Whatever is left is not known.
fn known(rest: &Table, at: &str, keys: &[&str]) -> Result<(), ConfigError> {
    match rest.keys().next() {
        None => Ok(()),
        Some(unknown) => Err(ConfigError::wrong(
            format!("{at}{unknown}"),
            format!("there is no such table; known are {}", keys.join(", ")),
        )),
    }
}

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
    fn wrong(key: impl Into<String>, reason: impl Into<String>) -> Self {
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
            "correct the file; docs/security.md lists every key with its default. Nothing was done",
        )
    }

    fn why(&self) -> Option<String> {
        let (Self::NotToml { reason } | Self::Wrong { reason, .. }) = self;
        Some(reason.clone())
    }
}
