//! The journals of all tasks in `memory.sqlite`.
//!
//! Owns the table `journal`: appends, never changes, and takes away a whole finished task only, for a tombstone. Does not know
//! what a record says, and does not verify the chain: the core does. Opened by the host's wiring, called by the core through [`Journal`].

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    append_queue::{AppendQueue, Batch},
    memories::LentMemories,
    memory_database::MemoryDatabase,
    tombstones::{self, Tombstone},
};
use crate::{
    core::ports::journal::{Journal, MemoryWork, StoredRecord},
    sqlite::{
        error::SqliteError,
        writer::{Ticket, Writer},
    },
    words::{
        clock::SystemClock,
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

/// The table `journal`. May be shared by any number of threads; several processes may hold the same file.
pub struct SqliteJournal {
    database: Arc<MemoryDatabase>,
    appends: AppendQueue<Ticket>,
    burnt: Mutex<Burnt>,
}

/// Fuel that the records up to and with one row charge, and the tombstones up to and with one. Between two removals rows are only
/// ever added, so what was summed once stays; after one, row numbers may come again.
#[derive(Clone, Copy, Default)]
struct Burnt {
    row: i64,
    fuel: u64,
    removed: i64,
    removed_fuel: u64,
}

/// A failure of the journal beyond the file itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Records do not follow on what is stored: somebody else appended meanwhile, or a record is missing.
    #[error("record {given} of task {task} does not follow on record {stored}")]
    NotNext {
        /// The task.
        task: TaskId,
        /// The last sequence stored, or given before; 0: none.
        stored: u64,
        /// The sequence given.
        given: u64,
    },
    /// The journal was opened for reading only.
    #[error("the journal was opened for reading only")]
    ReadOnly,
    /// What was done to the memory failed so that SQLite gave up the transaction, and whoever did it went on.
    #[error("the transaction of a journal record ended before its commit")]
    TransactionLost,
}

impl Fault for JournalError {
    fn facts(&self) -> Facts {
        match self {
            Self::NotNext { .. } => Facts::new(
                "journal-not-next",
                Kind::Conflict,
                "let one process at a time run the task, and resume it; nothing was written",
            ),
            Self::ReadOnly => Facts::new(
                "journal-read-only",
                Kind::Bug,
                "report it: a command that only reads tried to write",
            ),
            Self::TransactionLost => Facts::new(
                "journal-transaction-lost",
                Kind::Unavailable,
                "check the disk and resume; what was committed stands",
            ),
        }
    }
}

impl SqliteJournal {
    /// The journal of an open database.
    #[must_use]
    pub fn new(database: Arc<MemoryDatabase>) -> Self {
        Self {
            database,
            appends: AppendQueue::new(),
            burnt: Mutex::default(),
        }
    }

    /// The journal of a database of its own, as [`MemoryDatabase::open`] opens it, with the machine's clock.
    ///
    /// # Errors
    /// As [`MemoryDatabase::open`].
    pub fn open(path: &Path, busy: Duration, at: Timestamp) -> Result<Self, Error> {
        let database = MemoryDatabase::open(path, busy, Arc::new(SystemClock), at)?;
        Ok(Self::new(Arc::new(database)))
    }

    /// Opens an existing file without writing; [`Journal::append`] and [`Journal::settle`] are refused. None: as
    /// [`MemoryDatabase::open_read_only`].
    ///
    /// # Errors
    /// As [`MemoryDatabase::open_read_only`].
    pub fn open_read_only(path: &Path, busy: Duration) -> Result<Option<Self>, Error> {
        let database = MemoryDatabase::open_read_only(path, busy)?;
        Ok(database.map(|database| Self::new(Arc::new(database))))
    }

    /// How many commits with a sync its database has made since it was opened, preparation aside.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.database.writer().map_or(0, Writer::syncs)
    }

    /// Takes a task's records away and leaves its tombstone. Durable when it returns.
    ///
    /// # Errors
    /// [`JournalError::NotNext`] if the last record is not the one on the tombstone; nothing was changed.
    pub fn bury(&self, stone: &Tombstone) -> Result<(), Error> {
        let of = |e| self.database.error(e);
        let task = &stone.task;
        let transaction = self.writer()?.begin()?;
        let connection = transaction.connection();
        let last: i64 = connection
            .query_row(
                "SELECT coalesce(max(sequence), 0) FROM journal WHERE task = ?1",
                [task.as_str()],
                |row| row.get(0),
            )
            .map_err(of)?;
        if last != stone.position.sequence.cast_signed() {
            return Err(JournalError::NotNext {
                task: task.clone(),
                stored: u64::try_from(last).map_err(|_| self.malformed())?,
                given: stone.position.sequence,
            }
            .into());
        }
        tombstones::insert(connection, stone).map_err(of)?;
        connection
            .prepare_cached("DELETE FROM journal WHERE task = ?1")
            .and_then(|mut delete| delete.execute([task.as_str()]))
            .map_err(of)?;
        Ok(transaction.commit()?)
    }

    /// When the last record of a task was made; none: it has none.
    ///
    /// # Errors
    /// A file that cannot be read, or a malformed row.
    pub fn last_at(&self, task: &TaskId) -> Result<Option<Timestamp>, Error> {
        let found: Option<String> = self.database.reading(|connection| {
            connection
                .prepare_cached(
                    "SELECT at FROM journal WHERE task = ?1 ORDER BY sequence DESC LIMIT 1",
                )?
                .query_row([task.as_str()], |row| row.get(0))
                .optional()
        })?;
        found
            .map(|at| at.parse().map_err(|_| self.malformed().into()))
            .transpose()
    }

    /// What is left of a removed task; none: it was not removed.
    ///
    /// # Errors
    /// A file that cannot be read, or a malformed row.
    pub fn tombstone(&self, task: &TaskId) -> Result<Option<Tombstone>, Error> {
        let found = self
            .database
            .reading(|connection| tombstones::find(connection, task))?;
        found
            .map(|stone| stone.ok_or_else(|| self.malformed().into()))
            .transpose()
    }

    /// The removed tasks, in order of removal.
    ///
    /// # Errors
    /// A file that cannot be read, or a malformed row.
    pub fn removed(&self) -> Result<Vec<TaskId>, Error> {
        self.ids(self.database.reading(tombstones::tasks)?)
    }

    fn ids(&self, ids: Vec<String>) -> Result<Vec<TaskId>, Error> {
        ids.into_iter()
            .map(|id| id.parse().map_err(|_| self.malformed().into()))
            .collect()
    }

    fn writer(&self) -> Result<&Writer, JournalError> {
        self.database.writer().ok_or(JournalError::ReadOnly)
    }

    /// Writes batches in one transaction; those that follow on what is stored, if any. Whoever has a ticket still has to wait for it:
    /// what is visible is written, whatever becomes of its sync. That is waited for here all the same, so that all who come
    /// meanwhile share the next transaction.
    fn write(&self, batches: &[Batch<'_>]) -> Result<Vec<Result<Ticket, Error>>, Error> {
        let writer = self.writer()?;
        let transaction = writer.begin()?;
        let mut refusals = Vec::with_capacity(batches.len());
        for batch in batches {
            let refusal = self.refusal(transaction.connection(), batch)?;
            if refusal.is_none() {
                self.insert(transaction.connection(), batch)?;
            }
            refusals.push(refusal);
        }
        let ticket = transaction.commit_visibly()?;
        let mut failed = writer.reach(ticket).err();
        let answer = |refusal: Option<JournalError>| match (refusal, failed.take()) {
            (Some(refusal), _) => Err(refusal.into()),
            // The first one tells the cause.
            (None, Some(failed)) => Err(failed.into()),
            (None, None) => Ok(ticket),
        };
        Ok(refusals.into_iter().map(answer).collect())
    }

    /// Why records cannot be appended, if they do not follow on what is stored.
    fn refusal(
        &self,
        connection: &Connection,
        batch: &Batch<'_>,
    ) -> Result<Option<JournalError>, SqliteError> {
        let of = |e| self.database.error(e);
        let task = batch.task;
        let last: i64 = connection
            .prepare_cached("SELECT coalesce(max(sequence), 0) FROM journal WHERE task = ?1")
            .and_then(|mut statement| statement.query_row([task.as_str()], |row| row.get(0)))
            .map_err(of)?;
        let mut stored = u64::try_from(last).map_err(|_| self.malformed())?;
        for given in batch.records.iter().map(|record| record.sequence) {
            if stored.checked_add(1) != Some(given) {
                let task = task.clone();
                return Ok(Some(JournalError::NotNext {
                    task,
                    stored,
                    given,
                }));
            }
            stored = given;
        }
        Ok(None)
    }

    /// Inserts records that follow on what is stored.
    fn insert(&self, connection: &Connection, batch: &Batch<'_>) -> Result<(), SqliteError> {
        let of = |e| self.database.error(e);
        let mut insert = connection
            .prepare_cached(
                "INSERT INTO journal (task, sequence, kind, at, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .map_err(of)?;
        for record in batch.records {
            insert
                .execute((
                    batch.task.as_str(),
                    record.sequence.cast_signed(),
                    &record.kind,
                    record.at.to_string(),
                    &record.body,
                    record.hash.to_string(),
                ))
                .map_err(of)?;
        }
        Ok(())
    }

    fn malformed(&self) -> SqliteError {
        self.database.malformed("a journal record")
    }
}

impl Journal for SqliteJournal {
    fn load(&self, task: &TaskId) -> Result<Vec<StoredRecord>, Error> {
        let rows: Vec<Option<StoredRecord>> = self.database.reading(|connection| {
            connection
                .prepare_cached(
                    "SELECT sequence, kind, at, body, hash FROM journal WHERE task = ?1 ORDER BY sequence",
                )?
                .query_map([task.as_str()], |row| Ok(record(row)))?
                .collect()
        })?;
        rows.into_iter()
            .map(|row| row.ok_or_else(|| self.malformed().into()))
            .collect()
    }

    fn append(&self, task: &TaskId, records: &[StoredRecord]) -> Result<(), Error> {
        if records.is_empty() {
            return self.settle();
        }
        let own = Batch { task, records };
        let ticket = self.appends.append(own, &|batches| self.write(batches))?;
        Ok(self.writer()?.reach(ticket)?)
    }

    fn append_with(&self, task: &TaskId, work: &mut MemoryWork<'_>) -> Result<(), Error> {
        let transaction = self.writer()?.begin()?;
        let connection = transaction.connection();
        let records = work(&LentMemories::new(&self.database, connection))?;
        // Some failures undo the whole transaction, and what follows them would be committed by itself.
        if connection.is_autocommit() {
            return Err(JournalError::TransactionLost.into());
        }
        let batch = Batch {
            task,
            records: &records,
        };
        if let Some(refusal) = self.refusal(connection, &batch)? {
            return Err(refusal.into());
        }
        self.insert(connection, &batch)?;
        Ok(transaction.commit()?)
    }

    fn settle(&self) -> Result<(), Error> {
        Ok(self.writer()?.settle()?)
    }

    fn burnt(&self) -> Result<u64, Error> {
        let mut known = self.burnt.lock().unwrap_or_else(PoisonError::into_inner);
        let (removed, row, fuel) = self.database.reading(|connection| {
            // Both from one snapshot.
            let snapshot = connection.unchecked_transaction()?;
            let removed = tombstones::burnt_after(&snapshot, known.removed)?;
            if removed.0 > known.removed {
                (known.row, known.fuel) = (0, 0);
            }
            let (row, fuel): (i64, i64) = snapshot
                .prepare_cached(
                    "SELECT (SELECT coalesce(max(rowid), 0) FROM journal), coalesce(sum(call.value ->> 'fuel'), 0) \
                     FROM journal, json_each(journal.body, '$.' || kind || '.calls') AS call \
                     WHERE journal.rowid > ?1 AND kind IN ('finished', 'charged') AND instr(body, '\"fuel\"') > 0",
                )?
                .query_row([known.row], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok((removed, row, fuel))
        })?;
        let number = |fuel: i64| u64::try_from(fuel).map_err(|_| self.malformed());
        let fuels = (number(fuel)?, number(removed.1)?);
        (known.row, known.removed) = (row, removed.0);
        known.fuel = known.fuel.saturating_add(fuels.0);
        known.removed_fuel = known.removed_fuel.saturating_add(fuels.1);
        Ok(known.fuel.saturating_add(known.removed_fuel))
    }

    fn tasks(&self) -> Result<Vec<TaskId>, Error> {
        // Rows are only ever added, so their row ids grow in the order of the appends. Not the first records: a task that has
        // lost its first one is still a task.
        let ids: Vec<String> = self.database.reading(|connection| {
            connection
                .prepare_cached("SELECT task FROM journal GROUP BY task ORDER BY min(rowid)")?
                .query_map((), |row| row.get(0))?
                .collect()
        })?;
        self.ids(ids)
    }
}

/// None: a value has not the form that it was written in.
fn record(row: &Row<'_>) -> Option<StoredRecord> {
    Some(StoredRecord {
        sequence: u64::try_from(row.get::<_, i64>(0).ok()?).ok()?,
        kind: row.get(1).ok()?,
        at: row.get::<_, String>(2).ok()?.parse().ok()?,
        body: row.get(3).ok()?,
        hash: row.get::<_, String>(4).ok()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use tempfile::TempDir;

    use super::*;
    use crate::{sqlite::open, words::digest::Digest};

    fn at() -> Timestamp {
        "2030-01-02T03:04:05.678Z".parse().unwrap()
    }

    fn path(folder: &TempDir) -> PathBuf {
        folder.path().join("memory.sqlite")
    }

    fn open(folder: &TempDir) -> SqliteJournal {
        SqliteJournal::open(&path(folder), open::BUSY, at()).unwrap()
    }

    fn task(id: &str) -> TaskId {
        id.parse().unwrap()
    }

    fn records(sequences: std::ops::RangeInclusive<u64>) -> Vec<StoredRecord> {
        sequences
            .map(|sequence| StoredRecord {
                sequence,
                kind: "kind".into(),
                at: at(),
                body: format!("{{\"n\": {sequence}}}"),
                hash: Digest::of(sequence.to_string()),
            })
            .collect()
    }

    #[test]
    fn records_come_back_as_they_were_appended_and_tasks_in_order_of_admission() {
        let folder = tempfile::tempdir().unwrap();
        let journal = open(&folder);
        assert!(journal.load(&task("t")).unwrap().is_empty());
        for id in ["z", "a", "m"] {
            journal.append(&task(id), &records(1..=2)).unwrap();
        }
        journal.append(&task("z"), &records(3..=3)).unwrap();
        assert_eq!(journal.load(&task("z")).unwrap(), records(1..=3));
        assert_eq!(journal.load(&task("a")).unwrap(), records(1..=2));
        let ids: Vec<_> = journal.tasks().unwrap();
        assert_eq!(ids, ["z", "a", "m"].map(task));
        drop(journal);
        assert_eq!(open(&folder).load(&task("z")).unwrap(), records(1..=3));
    }

    #[test]
    fn a_gap_and_a_record_that_stands_already_are_conflicts_and_write_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = open(&folder);
        journal.append(&task("t"), &records(1..=2)).unwrap();
        let mut gap = records(3..=4);
        gap[1].sequence = 5;
        for wrong in [records(4..=4), records(2..=3), records(0..=0), gap] {
            let error = journal.append(&task("t"), &wrong).unwrap_err();
            assert_eq!(
                (error.code(), error.kind()),
                ("journal-not-next", Kind::Conflict)
            );
        }
        assert!(journal.append(&task("u"), &records(2..=2)).is_err());
        assert_eq!(journal.load(&task("t")).unwrap(), records(1..=2));
        assert_eq!(journal.tasks().unwrap(), [task("t")]);
    }

    #[test]
    fn an_append_is_one_sync_and_settling_is_free_until_somebody_else_appends() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (open(&folder), open(&folder));
        ours.settle().unwrap();
        assert_eq!(ours.syncs(), 1, "nothing is known at first");
        ours.append(&task("t"), &records(1..=3)).unwrap();
        ours.settle().unwrap();
        assert_eq!(ours.syncs(), 2);
        theirs.append(&task("t"), &records(4..=4)).unwrap();
        ours.settle().unwrap();
        ours.settle().unwrap();
        assert_eq!(ours.syncs(), 3);
        ours.append(&task("t"), &[]).unwrap();
        assert_eq!(ours.syncs(), 3);
    }

    #[test]
    fn threads_append_to_their_tasks_and_of_two_that_append_the_same_one_wins() {
        let folder = tempfile::tempdir().unwrap();
        let journal = open(&folder);
        let won: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|n| {
                    let journal = &journal;
                    scope.spawn(move || {
                        for sequence in 1..=5 {
                            journal
                                .append(&task(&format!("own{n}")), &records(sequence..=sequence))
                                .unwrap();
                        }
                        usize::from(journal.append(&task("shared"), &records(1..=1)).is_ok())
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
        for n in 0..8 {
            assert_eq!(
                journal.load(&task(&format!("own{n}"))).unwrap(),
                records(1..=5)
            );
        }
    }

    /// Their records stand: a second attempt would find them, and blame somebody else.
    #[test]
    fn a_sync_that_failed_is_the_answer_to_all_who_shared_it() {
        let folder = tempfile::tempdir().unwrap();
        let journal = open(&folder);
        let log = folder.path().join("memory.sqlite-wal");
        fs::remove_file(&log).unwrap();
        // A device that is written to and cannot be synced.
        std::os::unix::fs::symlink("/dev/null", &log).unwrap();
        std::thread::scope(|scope| {
            let appends: Vec<_> = (0..8)
                .map(|n| {
                    let journal = &journal;
                    scope.spawn(move || journal.append(&task(&format!("t{n}")), &records(1..=1)))
                })
                .collect();
            for append in appends {
                let error = append.join().unwrap().unwrap_err();
                assert_eq!(error.code(), "disk-failed", "{error}");
            }
        });
    }

    #[test]
    fn reading_writes_nothing_and_refuses_to() {
        let folder = tempfile::tempdir().unwrap();
        let read = || SqliteJournal::open_read_only(&path(&folder), open::BUSY).unwrap();
        assert!(read().is_none(), "there is no file");
        // A preparation that was cut short.
        drop(open::read_write(&path(&folder), open::BUSY, |_| Ok(())).unwrap());
        assert!(read().is_none(), "there is no table");
        open(&folder).append(&task("t"), &records(1..=1)).unwrap();
        let before = fs::read(path(&folder)).unwrap();
        let journal = read().unwrap();
        assert_eq!(journal.load(&task("t")).unwrap(), records(1..=1));
        for refused in [
            journal.settle(),
            journal.append(&task("t"), &records(2..=2)),
        ] {
            assert_eq!(refused.unwrap_err().code(), "journal-read-only");
        }
        drop(journal);
        assert_eq!(fs::read(path(&folder)).unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_newer_schema_is_refused_untouched_and_a_changed_row_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        open(&folder).append(&task("t"), &records(1..=1)).unwrap();
        let outside = open::read_write(&path(&folder), open::BUSY, |_| Ok(())).unwrap();
        outside
            .execute_batch("UPDATE journal SET at = 'yesterday'")
            .unwrap();
        let error = open(&folder).load(&task("t")).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("row-malformed", Kind::Corrupt)
        );
        outside
            .execute_batch("INSERT INTO wharf_migrations VALUES (99, 'later', 'x', 'then')")
            .unwrap();
        drop(outside);
        let before = fs::read(path(&folder)).unwrap();
        let error = SqliteJournal::open(&path(&folder), open::BUSY, at())
            .err()
            .unwrap();
        assert_eq!(
            (error.code(), error.kind()),
            ("schema-newer", Kind::Conflict)
        );
        assert_eq!(fs::read(path(&folder)).unwrap(), before);
    }

    #[test]
    fn the_journal_may_be_shared_by_threads() {
        fn is_shareable<T: Send + Sync>() {}
        is_shareable::<SqliteJournal>();
    }
}
