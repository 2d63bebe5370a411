//! The one writing connection of a database file, and the rule by which something counts as durable.
//!
//! # Why `settle` may be free
//!
//! Visible is not durable: a commit can be read before it was synced, an own one by another thread, and that of another
//! process which is killed then. So whatever was visible is stood for by a ticket, and is durable once the log was synced after the
//! ticket was given out (`shared_sync.rs` says why that is enough; a foreign writer at `synchronous=OFF` voids it).
//!
//! Every commit gives out a ticket before it lets go of the writer's lock. For other processes, each write transaction reads
//! `PRAGMA data_version` after `BEGIN IMMEDIATE`. From there to its commit nobody else can commit, so its ticket stands for
//! everything that any connection committed up to then, and the value for that state: SQLite changes it, as seen by this
//! connection, whenever another connection has committed, and never for commits of its own. `settle` reads the value again under
//! the writer's lock. Equal: nobody else has committed since the last ticket, and that ticket is all there is to wait for, which is
//! nothing where its sync was made. Unequal, or nothing known (after opening, after a failed commit): a new ticket. A value
//! that changes for any other reason costs a sync that was not needed, never one that was.
//!
//! A rollback leaves what is known as it was: it adds nothing that could be read. Where SQLite has given a transaction up by itself,
//! nothing is known any more.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;

pub(crate) use super::shared_sync::Ticket;
use super::{error::SqliteError, shared_sync::SharedSync};

/// The one writing connection; a lock gives it to one thread at a time. Syncs are shared, and made outside that lock.
pub struct Writer {
    state: Mutex<State>,
    sync: SharedSync,
    path: PathBuf,
    open: Box<dyn Fn() -> Result<Connection, SqliteError> + Send + Sync>,
}

struct State {
    /// None: lost by a failed rollback, or lent out and never given back; opened again on the next use.
    connection: Option<Connection>,
    /// The `data_version` that the last ticket stands for; none: not known.
    known: Option<i64>,
}

impl Writer {
    /// Takes over an open connection; `open` opens another where it is lost.
    pub fn new(
        path: &Path,
        connection: Connection,
        open: impl Fn() -> Result<Connection, SqliteError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                connection: Some(connection),
                known: None,
            }),
            sync: SharedSync::new(path),
            path: path.to_owned(),
            open: Box::new(open),
        }
    }

    /// Begins a write transaction. Waits for other threads of this process, and up to the busy timeout for other processes.
    ///
    /// # Errors
    /// Locked, the disk fails, or failed to sync before.
    pub fn begin(&self) -> Result<WriteTransaction<'_>, SqliteError> {
        self.begin_with(self.lock())
    }

    /// Makes everything durable that could be read from the file so far. Free where that is known already (see above). Waits for
    /// the end of another thread's transaction; where another process may have committed, for the write lock too, so that who
    /// could not write anything finds out before it reserves anything.
    ///
    /// # Errors
    /// Locked, the disk fails, or failed to sync before.
    pub fn settle(&self) -> Result<(), SqliteError> {
        let state = self.lock();
        if let (Some(known), Some(connection)) = (state.known, &state.connection)
            && self.data_version(connection)? == known
        {
            let ticket = self.sync.last();
            drop(state);
            return self.reach(ticket);
        }
        self.begin_with(state)?.settle()
    }

    /// Waits until what a ticket stands for is durable.
    ///
    /// # Errors
    /// The disk fails, or failed to sync before.
    pub(crate) fn reach(&self, ticket: Ticket) -> Result<(), SqliteError> {
        self.sync.reach(ticket)
    }

    /// How many syncs were made for commits. Those of checkpoints are not among them.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.sync.syncs()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_with<'w>(
        &'w self,
        mut state: MutexGuard<'w, State>,
    ) -> Result<WriteTransaction<'w>, SqliteError> {
        self.sync.check()?;
        let connection = match state.connection.take() {
            Some(connection) => connection,
            None => {
                state.known = None;
                let connection = (self.open)()?;
                self.sync.reopened();
                connection
            }
        };
        let connection = state.connection.insert(connection);
        self.run(connection, "BEGIN IMMEDIATE")?;
        match self.data_version(connection) {
            Ok(version) => Ok(WriteTransaction {
                state,
                writer: self,
                version,
                committed: false,
            }),
            Err(error) => {
                end(&mut state);
                Err(error)
            }
        }
    }

    /// Stands for everything that is visible now, at this `data_version`.
    fn ticket_for(&self, state: &mut State, version: i64) -> Ticket {
        if state.known == Some(version) {
            return self.sync.last();
        }
        state.known = Some(version);
        self.sync.ticket()
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
    committed: bool,
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

    /// Commits. Durable when it returns, with everything that was visible inside the transaction. Others see it, and may begin
    /// their own transaction, before it is durable.
    ///
    /// # Errors
    /// The disk fails; whether the transaction stands is then known only after the file is opened again.
    pub fn commit(self) -> Result<(), SqliteError> {
        let writer = self.writer;
        let ticket = self.commit_visibly()?;
        writer.reach(ticket)
    }

    /// Commits. Visible when it returns, and durable once [`Writer::reach`] has waited for the ticket.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub(crate) fn commit_visibly(mut self) -> Result<Ticket, SqliteError> {
        self.state.known = None;
        self.writer.run(self.connection(), "COMMIT")?;
        self.committed = true;
        Ok(self.writer.ticket_for(&mut self.state, self.version))
    }

    /// Ends a transaction in which nothing was written, and makes durable everything that was visible in it. Free where all of it
    /// is known to be durable.
    ///
    /// # Errors
    /// The disk fails.
    pub fn settle(mut self) -> Result<(), SqliteError> {
        self.forget_if_lost();
        let Self {
            writer, version, ..
        } = self;
        let ticket = writer.ticket_for(&mut self.state, version);
        drop(self);
        writer.reach(ticket)
    }

    /// SQLite gives some transactions up by itself, and what is done then is a commit that has no ticket.
    fn forget_if_lost(&mut self) {
        let connection = self.state.connection.as_ref();
        if !self.committed && connection.is_some_and(Connection::is_autocommit) {
            self.state.known = None;
        }
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        self.forget_if_lost();
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

    fn add_one(writer: &Writer) {
        let transaction = writer.begin().unwrap();
        transaction
            .connection()
            .execute("UPDATE wharf_barrier SET commits = commits + 1", ())
            .unwrap();
        transaction.commit().unwrap();
    }

    fn count(transaction: &WriteTransaction<'_>) -> i64 {
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
        assert_eq!(count(&writer.begin().unwrap()), 0);
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
        writer.settle().unwrap();
        writer.settle().unwrap();
        assert_eq!(writer.syncs(), 2);
    }

    /// The last connection that is closed removes the log; the next one makes another file.
    #[test]
    fn after_a_lost_connection_the_new_log_is_the_one_that_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        let log = folder.path().join("memory.sqlite-wal");
        add_one(&writer);
        let mut transaction = writer.begin().unwrap();
        drop(transaction.lend());
        assert!(!log.exists());
        drop(transaction);
        add_one(&writer);
        let held = writer.sync.log().unwrap().metadata().unwrap();
        assert_eq!(held.len(), log.metadata().unwrap().len());
        assert!(held.len() > 0);
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

    #[test]
    fn what_is_committed_after_sqlite_gave_the_transaction_up_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        writer.settle().unwrap();
        for settled_inside in [true, false] {
            let before = writer.syncs();
            let transaction = writer.begin().unwrap();
            transaction
                .connection()
                .execute_batch("ROLLBACK; UPDATE wharf_barrier SET commits = commits + 1")
                .unwrap();
            if settled_inside {
                transaction.settle().unwrap();
            } else {
                drop(transaction);
                writer.settle().unwrap();
            }
            assert_eq!(writer.syncs(), before + 1);
        }
    }

    #[test]
    fn what_another_thread_has_committed_and_not_yet_synced_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        add_one(&writer);
        // A commit whose thread has not come to its sync.
        let mut transaction = writer.begin().unwrap();
        transaction.state.known = None;
        writer.run(transaction.connection(), "COMMIT").unwrap();
        let ticket = writer.ticket_for(&mut transaction.state, transaction.version);
        drop(transaction);
        let before = writer.syncs();
        writer.settle().unwrap();
        assert_eq!(writer.syncs(), before + 1);
        writer.sync.reach(ticket).unwrap();
        assert_eq!(writer.syncs(), before + 1);
    }

    #[test]
    fn threads_commit_together_and_nothing_is_lost() {
        const THREADS: i64 = 8;
        const EACH: i64 = 25;
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&folder);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..EACH).for_each(|_| add_one(&writer)));
            }
        });
        assert_eq!(count(&writer.begin().unwrap()), THREADS * EACH);
        assert!(writer.syncs() <= (THREADS * EACH).cast_unsigned());
    }
}
