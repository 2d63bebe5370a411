//! Fills a plugin's own tables once, with SQL of the trusted side.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::OptionalExtension;

use super::{
    BusinessError, SqlLimits,
    confinement::{Gate, confine},
    script::{Allowed, Script},
    store::BusinessStore,
};
use crate::{
    core::contract::Migration,
    sqlite::{error::SqliteError, migrations::BUSINESS, open},
    words::{digest::Digest, error::Error, id::PluginName},
};

/// What seeding did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seeded {
    /// The statements ran.
    Now,
    /// The very same text ran before; nothing was changed.
    Before,
}

/// Tries a plugin's migrations and a seed in memory, so that a seed can be refused before anything is written.
///
/// # Errors
/// Where [`BusinessStore::install`] or [`BusinessStore::seed`] would fail in a new workspace.
pub fn check_seed(
    plugin: &PluginName,
    migrations: &[Migration],
    sql: &str,
    limits: &SqlLimits,
) -> Result<(), Error> {
    let path = Path::new(":memory:");
    let of = |e| SqliteError::of(path, e);
    let mut connection = open::in_memory()?;
    for host in BUSINESS {
        connection.execute_batch(host.sql).map_err(of)?;
    }
    let gate = Gate::new();
    confine(&mut connection, &gate).map_err(of)?;
    let transaction = connection.transaction().map_err(of)?;
    for migration in migrations {
        Script {
            plugin,
            what: format!("migration {}", migration.version),
            sql: &migration.sql,
            allowed: Allowed::Definitions,
        }
        .run(&transaction, path, &gate, limits)?;
    }
    Script {
        plugin,
        what: "the seed".into(),
        sql,
        allowed: Allowed::Triggers,
    }
    .run(&transaction, path, &gate, limits)
}

impl BusinessStore {
    /// Runs trusted SQL on a plugin's tables, in one transaction, once per plugin: it may change their rows and create
    /// triggers on them, and is confined to them like the plugin itself, the triggers too whenever they fire. Durable when
    /// it returns.
    ///
    /// # Errors
    /// The plugin was seeded before with another text; a statement that is refused, fails or runs into a limit: nothing of
    /// the seed was applied.
    pub fn seed(&self, plugin: &PluginName, sql: &str, at: Timestamp) -> Result<Seeded, Error> {
        let checksum = Digest::of(sql).to_string();
        let transaction = self.writer()?.begin()?;
        let connection = transaction.connection();
        let before: Option<String> = connection
            .query_row(
                "SELECT checksum FROM wharf_seeds WHERE plugin = ?1",
                [plugin.as_str()],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| SqliteError::of(self.path(), e))?;
        match before {
            Some(before) if before == checksum => {
                transaction.settle()?;
                return Ok(Seeded::Before);
            }
            Some(_) => {
                return Err(BusinessError::SeededOtherwise {
                    plugin: plugin.clone(),
                }
                .into());
            }
            None => {}
        }
        let script = Script {
            plugin,
            what: "the seed".into(),
            sql,
            allowed: Allowed::Triggers,
        };
        script.run(connection, self.path(), self.gate(), self.limits())?;
        connection
            .execute(
                "INSERT INTO wharf_seeds (plugin, checksum, applied_at) VALUES (?1, ?2, ?3)",
                (plugin.as_str(), checksum, at.to_string()),
            )
            .map_err(|e| SqliteError::of(self.path(), e))?;
        transaction
            .commit()
            .map_err(|error| script.at_commit(error))?;
        Ok(Seeded::Now)
    }
}
