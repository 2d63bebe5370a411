//! `wharf.toml`: what an operator sets.
//!
//! Owns what the file may hold. A table of limits takes every key of what it sets, or a preset and what differs from it; an
//! unknown key, a missing one, a zero and a limit that nothing would enforce are refused, each with its place.

mod defaults;
mod error;
mod overrides;
mod schema;
mod tables;

use std::{collections::BTreeMap, num::NonZeroU64};

use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Table, Value};

use self::tables::{complete, deserialize, known, table};
pub use self::{
    defaults::{Defaults, PlannerName},
    error::ConfigError,
    overrides::Overrides,
    schema::config_schema,
};
use super::limits::{Allowance, HostLimits};
use crate::{
    business::{CallSqlLimits, DatabaseLimits},
    core::metering::FuelBudgets,
    plugin::{EngineLimits, PluginLimits},
    technologies::chat::{ChatSettings, ChatSettingsError},
    words::{
        error::Fault as _,
        id::{PluginName, is_identifier},
        scrub::scrub,
    },
};

/// The most bytes of a configuration file.
pub const MAX_CONFIG_BYTES: usize = 256 * 1024;

/// What a configuration file says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Limits.
    pub limits: HostLimits,
    /// Whether the outputs of a task are durable before it counts as finished.
    pub sync_outputs: bool,
    /// Servers of models, by the names that the operator gives them.
    pub providers: BTreeMap<String, ChatSettings>,
    /// What holds where the command line does not say.
    pub defaults: Defaults,
}

impl Config {
    /// What holds without a file.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            limits: HostLimits::standard(),
            sync_outputs: true,
            providers: BTreeMap::new(),
            defaults: Defaults::none(),
        }
    }

    /// The provider whose model proposes plans: the default one, else the only one.
    #[must_use]
    pub fn provider(&self) -> Option<(&str, &ChatSettings)> {
        let (name, settings) = match &self.defaults.provider {
            Some(name) => self.providers.get_key_value(name),
            None => self
                .providers
                .iter()
                .next()
                .filter(|_| self.providers.len() == 1),
        }?;
        Some((name, settings))
    }

    /// Reads the text of a file. What it does not set is standard.
    ///
    /// # Errors
    /// The first thing that is wrong, with the place of it.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        Self::read_with(text, &Overrides::none())
    }

    /// Reads the text of a file, some keys of which the environment sets.
    ///
    /// # Errors
    /// As [`Self::read`]; where the environment set the key, with the variable.
    pub fn read_with(text: &str, overrides: &Overrides) -> Result<Self, ConfigError> {
        let mut root: Table = text
            .parse()
            .map_err(|error: toml::de::Error| not_toml(text, &error))?;
        overrides.apply(&mut root)?;
        Self::of(root).map_err(|error| overrides.blame(error))
    }

    fn of(mut root: Table) -> Result<Self, ConfigError> {
        let defaults = table(&mut root, "defaults")?;
        let providers = table(&mut root, "providers")?;
        let engine = table(&mut root, "engine")?;
        let database = table(&mut root, "database")?;
        let workspace = table(&mut root, "workspace")?;
        let others = table(&mut root, "plugin")?;
        let plugins = table(&mut root, "plugins")?;
        known(
            &root,
            "",
            &[
                "database",
                "defaults",
                "engine",
                "plugin",
                "plugins",
                "providers",
                "workspace",
            ],
        )?;

        let engine = match engine {
            Some(table) => complete("engine", table, ENGINE_PRESETS)?,
            None => EngineLimits::standard(),
        };
        let database = match database {
            Some(table) => complete("database", table, DATABASE_PRESETS)?,
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
        let workspace = match workspace {
            Some(table) => deserialize::<WorkspaceTable>("workspace", table)?,
            None => WorkspaceTable::default(),
        };
        let limits = HostLimits {
            engine,
            database,
            others,
            plugins: named,
            fuel: FuelBudgets {
                task: workspace.task_fuel,
                workspace: workspace.fuel,
            },
        };
        check_metered(&limits)?;
        let defaults = match defaults {
            Some(table) => deserialize("defaults", table)?,
            None => Defaults::none(),
        };
        let providers = self::providers(providers.unwrap_or_default())?;
        defaults.check(&providers)?;
        Ok(Self {
            limits,
            sync_outputs: workspace.sync_outputs.unwrap_or(true),
            providers,
            defaults,
        })
    }
}

/// Presets by name, the first of which is what holds without a table.
type Presets<T> = &'static [(&'static str, T)];

const ENGINE_PRESETS: Presets<EngineLimits> = &[
    ("standard", EngineLimits::standard()),
    ("small", EngineLimits::small()),
];
const DATABASE_PRESETS: Presets<DatabaseLimits> = &[("standard", DatabaseLimits::standard())];
const PLUGIN_PRESETS: Presets<PluginLimits> = &[
    ("standard", PluginLimits::standard()),
    ("interpreter", PluginLimits::interpreter()),
];
const SQL_PRESETS: Presets<CallSqlLimits> = &[("standard", CallSqlLimits::standard())];

/// What holds for the workspace as a whole.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorkspaceTable {
    /// Fuel of all calls of the workspace together. Needs `fuel` in the table of every plugin.
    fuel: Option<NonZeroU64>,
    /// Fuel of all calls of a task together. Needs `fuel` in the table of every plugin.
    task_fuel: Option<NonZeroU64>,
    /// Whether the outputs of a task are synced before it counts as finished; true where it is not set. If not, a power loss may
    /// take the outputs of the last seconds, and `wharf resume` writes them again.
    sync_outputs: Option<bool>,
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

/// Where and why, but not what stands there: a key may stand in the wrong place.
fn not_toml(text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    ConfigError::NotToml {
        reason: scrub(format!("line {line}: {}", error.message())).replace('\n', " "),
    }
}

fn providers(given: Table) -> Result<BTreeMap<String, ChatSettings>, ConfigError> {
    let provider = |(name, value): (String, Value)| {
        let at = format!("providers.{name}");
        if !is_identifier(&name) {
            return Err(ConfigError::wrong(
                at,
                "the name of a provider is 1 to 80 letters, digits, `_` or `-`",
            ));
        }
        let Value::Table(table) = value else {
            return Err(ConfigError::wrong(at, "it is not a table"));
        };
        let settings: ChatSettings = deserialize(&at, table)?;
        settings
            .validate()
            .map_err(|fault| wrong_setting(&at, fault))?;
        Ok((name, settings))
    };
    given.into_iter().map(provider).collect()
}

fn wrong_setting(at: &str, fault: ChatSettingsError) -> ConfigError {
    let hint = fault.facts().hint;
    match fault {
        ChatSettingsError::Key { key, why, .. } => {
            ConfigError::wrong(format!("{at}.{key}"), format!("{why}; {hint}"))
        }
        other => ConfigError::wrong(at, format!("{other}; {hint}")),
    }
}

fn allowance(at: &str, mut given: Table) -> Result<Allowance, ConfigError> {
    let sql = match given.remove("sql") {
        None => CallSqlLimits::standard(),
        Some(Value::Table(table)) => complete(&format!("{at}.sql"), table, SQL_PRESETS)?,
        Some(_) => return Err(ConfigError::wrong(format!("{at}.sql"), "it is not a table")),
    };
    let sandbox = complete(at, given, PLUGIN_PRESETS)?;
    Ok(Allowance { sandbox, sql })
}
