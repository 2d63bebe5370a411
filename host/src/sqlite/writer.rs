//! The one writing connection of a database file, and the rule by which something counts as durable.
//!
//! # Why `settle` may be free
//!
//! Visible is not durable: a commit of a killed process can be read before it was synced. A barrier, a commit that
//! changes a page under `synchronous=FULL`, makes durable whatever stands before it in the write-ahead log, since one
//! sync of that file covers all of its frames; a frame that left the log went into the database file by a checkpoint,
//! which syncs the log first and the database file afterwards (every connection of Wharf runs at least at
//! `synchronous=NORMAL`; a foreign writer at `OFF` voids this).
//!
//! Each write transaction reads `PRAGMA data_version` after `BEGIN IMMEDIATE`. From there to its commit nobody else can
//! commit, so if the commit succeeds with its sync, everything that any connection committed up to then is durable, and
//! the value stands for that state: SQLite changes it, as seen by this connection, whenever another connection has
//! committed, and never for commits of its own. `settle` reads the value again under the writer's lock. Equal: nobody
//! else has committed since, our own commits are synced, all that can have been read is durable, and there is nothing to
//! do. Unequal, or nothing known (after opening, after a failed commit): a real barrier. A value that changes for any
//! other reason costs a barrier that was not needed, never one that was.
//!
//! A rollback leaves what is known as it was: it adds nothing that could be read.
//!
//! # Sharing commits, later
//!
//! The lock is held per transaction and the knowledge stands beside it, so a group of transactions may each commit at
//! `NORMAL` and then be made durable by one barrier: those commits have to forget what is known, the barrier restores it.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::Connection;

use super::error::SqliteError;

/// The one writing connection; a lock gives it to one thread at a time.
pub struct Writer {
    state: Mutex<State>,
    syncs: AtomicU64,
    path: PathBuf,
    open: Box<dyn Fn() -> Result<Connection, SqliteError> + Send + Sync>,
}

struct State {
    /// None: lost by a failed rollback, or lent out and never given back; opened again on the next use.
    connection: Option<Connection>,
    /// The `data_version` up to which everything visible is durable.
    durable: Option<i64>,
}

impl Writer {
    /// Takes over an open connection; `open` opens another where it is lost. The schema must have `wharf_barrier`.
    pub fn new(
        path: &Path,
        connection: Connection,
        open: impl Fn() -> Result<Connection, SqliteError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                connection: Some(connection),
                durable: None,
            }),
            syncs: AtomicU64::new(0),
            path: path.to_owned(),
            open: Box::new(open),
        }
    }

    /// Begins a write transaction. Waits for other threads of this process, and up to the busy timeout for other processes.
    ///
    /// # Errors
    /// Locked, or the disk fails.
    pub fn begin(&self) -> Result<WriteTransaction<'_>, SqliteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.begin_in(&mut state).map(|version| WriteTransaction {
            state,
            writer: self,
            version,
        })
    }

    /// Makes everything durable that could be read from the file so far. Free where that is known already (see above).
    ///
    /// # Errors
    /// Locked, or the disk fails.
    pub fn settle(&self) -> Result<(), SqliteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(durable), Some(connection)) = (state.durable, &state.connection)
            && self.data_version(connection)? == durable
        {
            return Ok(());
        }
        let version = self.begin_in(&mut state)?;
        WriteTransaction {
            state,
            writer: self,
            version,
        }
        .barrier()
    }

    /// How many commits with a sync this writer has made.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    fn begin_in(&self, state: &mut State) -> Result<i64, SqliteError> {
        let connection = match state.connection.take() {
            Some(connection) => connection,
            None => {
                state.durable = None;
                (self.open)()?
            }
        };
        let connection = state.connection.insert(connection);
        self.run(connection, "BEGIN IMMEDIATE")?;
        match self.data_version(connection) {
            Ok(version) => Ok(version),
            Err(error) => {
                end(state);
                Err(error)
            }
        }
    }

    fn data_version(&self, connection: &Connection) -> Result<i64, SqliteError> {
        connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
            .map_err(|e| self.error(e))
    }

    fn run(&self, connection: &Connection, sql: &str) -> Result<(), SqliteError> {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(()))
            .map(|_| ())
            .map_err(|e| self.error(e))
    }

    fn error(&self, error: rusqlite::Error) -> SqliteError {
        SqliteError::of(&self.path, error)
    }
}

/// An open write transaction. Dropping it rolls back.
pub struct WriteTransaction<'w> {
    state: MutexGuard<'w, State>,
    writer: &'w Writer,
    version: i64,
}

impl WriteTransaction<'_> {
    /// The connection.
    ///
    /// # Panics
    /// While it is lent.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        self.state
            .connection
            .as_ref()
            .expect("a lent connection is given back before it is used")
    }

    /// Hands the connection out, to be given back with [`Self::give_back`]. If it never is, the transaction is rolled back
    /// when the connection is dropped.
    ///
    /// # Panics
    /// While it is lent.
    pub fn lend(&mut self) -> Connection {
        self.state
            .connection
            .take()
            .expect("a lent connection is given back before it is lent again")
    }

    /// Takes the lent connection back.
    pub fn give_back(&mut self, connection: Connection) {
        self.state.connection = Some(connection);
    }

    /// Commits. Durable when it returns, with everything that was visible inside the transaction.
    ///
    /// # Errors
    /// The disk fails; whether the transaction stands is then known only after the file is opened again.
    pub fn commit(mut self) -> Result<(), SqliteError> {
        self.state.durable = None;
        self.writer.run(self.connection(), "COMMIT")?;
        self.state.durable = Some(self.version);
        self.writer.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Commits nothing but the barrier: makes durable everything that was visible inside the transaction. To be used
    /// where nothing was written. Free where all of it is known to be durable.
    ///
    /// # Errors
    /// The disk fails.
    pub fn barrier(self) -> Result<(), SqliteError> {
        if self.state.durable == Some(self.version) {
            return Ok(());
        }
        self.commit_with_barrier()
    }

    /// As [`Self::commit`], where it is not known whether anything was written.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn commit_with_barrier(self) -> Result<(), SqliteError> {
        self.writer.run(
            self.connection(),
            "UPDATE wharf_barrier SET commits = commits + 1",
        )?;
        self.commit()
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        end(&mut self.state);
    }
}

/// Leaves no transaction open; gives the connection up where that fails.
fn end(state: &mut State) {
    if let Some(connection) = state.connection.take() {
        if !connection.is_autocommit() {
            let _ = connection
                .prepare_cached("ROLLBACK")
                .and_then(|mut statement| statement.execute(()));
        }
        if connection.is_autocommit() {
            state.connection = Some(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tempfile::TempDir;

    use super::*;
    use crate::sqlite::{migrations, open};

    fn writer(folder: &TempDir) -> Writer {
        let path = folder.path().join("memory.sqlite");
        let mut connection = open::read_write(&path, open::BUSY, |_| Ok(())).unwrap();
        migrations::apply(
            &mut connection,
            &path,
            migrations::MEMORY,
            Timestamp::UNIX_EPOCH,
        )
        .unwrap();
        let file = path.clone();
        Writer::new(&path, connection, move || {
            open::read_write(&file, open::BUSY, |_| Ok(()))
        })
    }

    fn barriers(transaction: &WriteTransaction<'_>) -> i64 {
        transaction
            .connection()
            .query_row("SELECT commits FROM wharf_barrier", (), |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn a_transaction_that_is_dropped_is_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        let transaction = writer.begin().unwrap();
        transaction
            .connection()
            .execute("UPDATE wharf_barrier SET commits = 7", ())
            .unwrap();
        drop(transaction);
        assert_eq!(barriers(&writer.begin().unwrap()), 0);
        assert_eq!(writer.syncs(), 0);
    }

    #[test]
    fn a_connection_that_is_lent_and_lost_is_opened_again_and_nothing_is_known_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        writer.settle().unwrap();
        let mut transaction = writer.begin().unwrap();
        drop(transaction.lend());
        drop(transaction);
        assert_eq!(barriers(&writer.begin().unwrap()), 1);
        writer.settle().unwrap();
        assert_eq!(writer.syncs(), 2);
    }

    #[test]
    fn a_failed_commit_forgets_what_was_known() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        writer.settle().unwrap();
        writer.settle().unwrap();
        assert_eq!(writer.syncs(), 1);
        let transaction = writer.begin().unwrap();
        transaction
            .connection()
            .execute_batch(
                "PRAGMA defer_foreign_keys = ON;
                 CREATE TABLE a (x REFERENCES b (y)); CREATE TABLE b (y UNIQUE); INSERT INTO a VALUES (1);",
            )
            .unwrap();
        assert!(transaction.commit().is_err());
        assert_eq!(writer.syncs(), 1);
        writer.settle().unwrap();
        assert_eq!(writer.syncs(), 2);
    }
}
