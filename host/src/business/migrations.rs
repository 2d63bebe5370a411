//! A plugin's numbered schema changes, applied by the host at installation: tables, indexes and views of the plugin's
//! own, and changes of their rows. No trigger, and nothing that could end the host's transaction.

use jiff::Timestamp;
use rusqlite::Connection;

use super::{
    BusinessError,
    script::{Allowed, Script},
    store::BusinessStore,
};
use crate::{
    core::contract::Migration,
    sqlite::error::SqliteError,
    words::{digest::Digest, error::Error, id::PluginName},
};

/// What an installation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installed {
    /// Migrations applied now.
    pub applied: u32,
    /// The version of the plugin's tables.
    pub version: u32,
}

impl BusinessStore {
    /// Applies those of a plugin's migrations that were not applied yet, each in one transaction with the row that says
    /// so; what they create is from then on the plugin's own. `migrations` is the whole list, numbered from 1 without
    /// gaps. Installing the same list again changes nothing. Durable when it returns.
    ///
    /// A statement is a `CREATE`, `DROP` or `ALTER` of a table, an index or a view, or changes rows of the plugin's own
    /// tables. `CREATE TABLE ... AS`, triggers, virtual and temporary tables, `ON CONFLICT ROLLBACK`, names that begin with
    /// `wharf_`, `sqlite_` or `pragma_`, another plugin's names and functions that are not pure are refused.
    ///
    /// # Errors
    /// A list out of order, an applied migration with another text, more applied than listed; a migration that is refused,
    /// fails or runs into a limit: earlier ones stand, it and the later ones were not applied.
    pub fn install(
        &self,
        plugin: &PluginName,
        migrations: &[Migration],
        at: Timestamp,
    ) -> Result<Installed, Error> {
        check_order(plugin, migrations)?;
        let mut applied = 0;
        loop {
            let transaction = self.writer()?.begin()?;
            let connection = transaction.connection();
            let done = self.compare(connection, plugin, migrations)?;
            let Some(migration) = migrations.get(done) else {
                // What was found may be another process's, committed but not synced.
                transaction.settle()?;
                return Ok(Installed {
                    applied,
                    version: u32::try_from(done).unwrap_or(u32::MAX),
                });
            };
            let script = Script {
                plugin,
                what: format!("migration {}", migration.version),
                sql: &migration.sql,
                allowed: Allowed::Definitions,
            };
            script.run(connection, self.path(), self.gate(), self.limits())?;
            connection
                .execute(
                    "INSERT INTO wharf_plugin_migrations (plugin, version, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                    (
                        plugin.as_str(),
                        migration.version,
                        Digest::of(&migration.sql).to_string(),
                        at.to_string(),
                    ),
                )
                .map_err(|e| SqliteError::of(self.path(), e))?;
            transaction
                .commit()
                .map_err(|error| script.at_commit(error))?;
            applied += 1;
        }
    }

    /// How many of a plugin's migrations [`Self::install`] would apply now. Writes nothing.
    ///
    /// # Errors
    /// As [`Self::install`], as far as it shows without running them.
    pub fn pending_migrations(
        &self,
        plugin: &PluginName,
        migrations: &[Migration],
    ) -> Result<usize, Error> {
        check_order(plugin, migrations)?;
        let done = self.reading(|connection| self.compare(connection, plugin, migrations))?;
        Ok(migrations.len() - done)
    }

    /// How many of the list were applied.
    fn compare(
        &self,
        connection: &Connection,
        plugin: &PluginName,
        migrations: &[Migration],
    ) -> Result<usize, Error> {
        let rows: Vec<(u32, String)> = connection
            .prepare(
                "SELECT version, checksum FROM wharf_plugin_migrations WHERE plugin = ?1 ORDER BY version",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([plugin.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect()
            })
            .map_err(|e| SqliteError::of(self.path(), e))?;
        let plugin = plugin.clone();
        for (version, (found, _)) in (1u32..).zip(&rows) {
            if *found != version {
                return Err(BusinessError::MigrationMissing { plugin, version }.into());
            }
        }
        if let Some((applied, _)) = rows.last()
            && rows.len() > migrations.len()
        {
            return Err(BusinessError::MigrationLower {
                plugin,
                applied: *applied,
                known: u32::try_from(migrations.len()).unwrap_or(u32::MAX),
            }
            .into());
        }
        for ((version, checksum), migration) in rows.iter().zip(migrations) {
            if *checksum != Digest::of(&migration.sql).to_string() {
                return Err(BusinessError::MigrationChanged {
                    plugin,
                    version: *version,
                }
                .into());
            }
        }
        Ok(rows.len())
    }
}

fn check_order(plugin: &PluginName, migrations: &[Migration]) -> Result<(), BusinessError> {
    for (place, migration) in (1u32..).zip(migrations) {
        if migration.version != place {
            return Err(BusinessError::MigrationOrder {
                plugin: plugin.clone(),
                found: migration.version,
                place,
            });
        }
    }
    Ok(())
}
