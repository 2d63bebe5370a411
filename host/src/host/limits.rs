//! What a host allows: the engine's, the plugins', the database's and the workspace's limits in one value.

use std::collections::BTreeMap;

use crate::{
    business::{CallSqlLimits, DatabaseLimits},
    core::metering::FuelBudgets,
    plugin::{EngineLimits, PluginLimits},
    words::id::PluginName,
};

/// What one plugin may use: in its sandbox, and of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// In its sandbox.
    pub sandbox: PluginLimits,
    /// Of the database, per call.
    pub sql: CallSqlLimits,
}

impl Allowance {
    /// [`PluginLimits::standard`] and [`CallSqlLimits::standard`].
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            sandbox: PluginLimits::standard(),
            sql: CallSqlLimits::standard(),
        }
    }
}

/// Everything that a host limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLimits {
    /// What all plugins of the host share.
    pub engine: EngineLimits,
    /// The business database.
    pub database: DatabaseLimits,
    /// What a plugin may use that is not named in `plugins`.
    pub others: Allowance,
    /// What the plugins of these names may use.
    pub plugins: BTreeMap<PluginName, Allowance>,
    /// Fuel of tasks and of the workspace. Only plugins with `fuel` of their own are charged.
    pub fuel: FuelBudgets,
}

impl HostLimits {
    /// The standard limits of each kind, the same for all plugins; nothing is metered.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            engine: EngineLimits::standard(),
            database: DatabaseLimits::standard(),
            others: Allowance::standard(),
            plugins: BTreeMap::new(),
            fuel: FuelBudgets {
                task: None,
                workspace: None,
            },
        }
    }

    /// What the plugin of this name may use.
    #[must_use]
    pub fn of(&self, plugin: &PluginName) -> &Allowance {
        self.plugins.get(plugin).unwrap_or(&self.others)
    }
}

/// The same for every plugin, the rest standard.
impl From<PluginLimits> for HostLimits {
    fn from(sandbox: PluginLimits) -> Self {
        let mut limits = Self::standard();
        limits.others.sandbox = sandbox;
        limits
    }
}
