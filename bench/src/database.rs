//! One database of a floor: one connection for all threads, prepared statements, durable commits.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::Result;
use rusqlite::{Connection, Params, config::DbConfig};
use wharf::sqlite::migrations::HostMigration;

use crate::shared_commits::SharedCommits;

/// How a commit becomes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commits {
    /// SQLite syncs each by itself (`synchronous=FULL`), before another thread may begin its own.
    Alone,
    /// Those of several threads share a sync.
    Shared,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Commit,
    Rollback,
}

pub(crate) struct Database {
    connection: Mutex<Connection>,
    /// None: each commit alone.
    shared: Option<SharedCommits>,
}

impl Database {
    /// Opens it, with the host's tables where it is new.
    pub(crate) fn open(
        path: &Path,
        migrations: &[HostMigration],
        commits: Commits,
    ) -> Result<Self> {
        let is_new = !path.exists();
        let connection = Connection::open(path)?;
        let synchronous = match commits {
            Commits::Alone => "FULL",
            Commits::Shared => "NORMAL",
        };
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};"
        ))?;
        // Else SQLite prepares some cached statements again at every use.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        if is_new {
            for migration in migrations {
                connection.execute_batch(migration.sql)?;
            }
        }
        // Whoever reads a database makes its log, too.
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
        let shared = match commits {
            Commits::Alone => None,
            Commits::Shared => Some(SharedCommits::of(path)?),
        };
        Ok(Self {
            connection: Mutex::new(connection),
            shared,
        })
    }

    /// Whatever is to be done outside a transaction.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&self.lock())
    }

    /// One write transaction. A commit is durable when it returns.
    pub(crate) fn transaction(
        &self,
        work: impl FnOnce(&Connection) -> Result<Ending>,
    ) -> Result<()> {
        let connection = self.lock();
        run(&connection, "BEGIN IMMEDIATE", ())?;
        if work(&connection)? == Ending::Rollback {
            run(&connection, "ROLLBACK", ())?;
            return Ok(());
        }
        run(&connection, "COMMIT", ())?;
        let Some(shared) = &self.shared else {
            return Ok(());
        };
        let number = shared.number();
        drop(connection);
        shared.wait(number)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One statement, kept prepared.
pub(crate) fn run(connection: &Connection, sql: &str, values: impl Params) -> Result<usize> {
    Ok(connection.prepare_cached(sql)?.execute(values)?)
}
