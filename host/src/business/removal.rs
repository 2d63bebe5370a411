//! Takes a plugin out of a workspace. What it did stays in the ledger.

use rusqlite::{Connection, TransactionBehavior, config::DbConfig};

use super::store::BusinessStore;
use crate::{
    sqlite::{
        error::SqliteError,
        migrations::{self, BUSINESS},
        open,
    },
    words::{error::Error, id::PluginName},
};

impl BusinessStore {
    /// Removes a plugin's tables and views with all that hangs on them, and what is known of its migrations and its seed, in
    /// one transaction; yields how many tables and views there were. The ledger and the anchors stay as they are, so what
    /// the plugin performed before counts as performed should it be installed again. Whether a task still needs the plugin
    /// is for the caller to know. Durable when it returns.
    ///
    /// # Errors
    /// The database was opened for reading only, is locked, or the disk fails: nothing was removed.
    pub fn remove(&self, plugin: &PluginName) -> Result<usize, Error> {
        let writer = self.writer()?;
        let path = self.path();
        let of = |e| SqliteError::of(path, e);
        // Dropping a table deletes its rows, which the foreign keys of a table that is dropped next would forbid; and they
        // can be switched off outside a transaction only.
        let busy = super::store::busy(self.limits());
        let mut connection = open::read_write(path, busy, |connection| {
            migrations::require(connection, path, BUSINESS)
        })?;
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)
            .map_err(of)?;
        let removed = remove(&mut connection, plugin).map_err(of)?;
        writer.settle()?;
        Ok(removed)
    }
}

fn remove(connection: &mut Connection, plugin: &PluginName) -> Result<usize, rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let owned: Vec<(String, String)> = transaction
        .prepare("SELECT name, kind FROM wharf_tables WHERE plugin = ?1 ORDER BY kind DESC")?
        .query_map([plugin.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (name, kind) in &owned {
        let name = name.replace('"', "\"\"");
        transaction.execute(&format!("DROP {kind} IF EXISTS \"{name}\""), ())?;
    }
    for table in ["wharf_tables", "wharf_plugin_migrations", "wharf_seeds"] {
        transaction.execute(
            &format!("DELETE FROM {table} WHERE plugin = ?1"),
            [plugin.as_str()],
        )?;
    }
    transaction.commit()?;
    Ok(owned.len())
}
