//! The journals of all tasks in `memory.sqlite`.
//!
//! Owns the table `journal`: appends, never changes. Does not know what a record says, and does not verify the chain:
//! the core does. Opened by the host's wiring, called by the core through [`Journal`].

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::{Connection, Row};

use crate::{
    core::ports::journal::{Journal, StoredRecord},
    sqlite::{
        error::SqliteError,
        migrations::{self, MEMORY},
        open,
        readers::Readers,
        writer::Writer,
    },
    words::{
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

/// `memory.sqlite`: one writing connection, some reading ones. May be shared by any number of threads; several
/// processes may hold the same file.
pub struct SqliteJournal {
    // Closed before the writer, so that the writer's close tidies up the files beside the database.
    readers: Readers<Connection>,
    writer: Option<Writer>,
    path: PathBuf,
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
        }
    }
}

impl SqliteJournal {
    /// Opens the file, brings its schema up to date, and creates it where there is none. `at` is the time that new rows
    /// of the host's own tables carry; `busy` bounds the wait for another process (see [`open::BUSY`]).
    ///
    /// # Errors
    /// A newer schema, a foreign or damaged file, all untouched; a file that cannot be opened, can only be read or stays
    /// locked.
    pub fn open(path: &Path, busy: Duration, at: Timestamp) -> Result<Self, Error> {
        let mut connection = open::read_write(path, busy, |connection| {
            migrations::check(connection, path, MEMORY).map(|_| ())
        })?;
        migrations::apply(&mut connection, path, MEMORY, at)?;
        let file = path.to_owned();
        let writer = Writer::new(path, connection, move || {
            open::read_write(&file, busy, |connection| {
                migrations::require(connection, &file, MEMORY)
            })
        });
        let file = path.to_owned();
        Ok(Self {
            readers: Readers::new(move || open::reader(&file, busy)),
            writer: Some(writer),
            path: path.to_owned(),
        })
    }

    /// Opens an existing file without writing; [`Journal::append`] and [`Journal::settle`] are refused. Leaves no file
    /// beside it.
    ///
    /// # Errors
    /// As [`Self::open`]; also a missing file and an older schema.
    pub fn open_read_only(path: &Path, busy: Duration) -> Result<Self, Error> {
        let file = path.to_owned();
        let readers = Readers::new(move || {
            let connection = open::read_only(&file, busy)?;
            migrations::require(&connection, &file, MEMORY)?;
            Ok(connection)
        });
        readers.give_back(readers.take()?);
        Ok(Self {
            readers,
            writer: None,
            path: path.to_owned(),
        })
    }

    /// How many commits with a sync this journal has made since it was opened, preparation aside.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::syncs)
    }

    fn writer(&self) -> Result<&Writer, JournalError> {
        self.writer.as_ref().ok_or(JournalError::ReadOnly)
    }

    fn reading<R>(
        &self,
        read: impl FnOnce(&Connection) -> Result<R, rusqlite::Error>,
    ) -> Result<R, SqliteError> {
        let reader = self.readers.take()?;
        let result = read(&reader).map_err(|e| SqliteError::of(&self.path, e));
        self.readers.give_back(reader);
        result
    }

    fn malformed(&self) -> SqliteError {
        SqliteError::Malformed {
            path: self.path.clone(),
            what: "a journal record",
        }
    }
}

impl Journal for SqliteJournal {
    fn load(&self, task: &TaskId) -> Result<Vec<StoredRecord>, Error> {
        let rows: Vec<Option<StoredRecord>> = self.reading(|connection| {
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
        let of = |e| SqliteError::of(&self.path, e);
        let transaction = self.writer()?.begin()?;
        let connection = transaction.connection();
        let last: i64 = connection
            .prepare_cached("SELECT coalesce(max(sequence), 0) FROM journal WHERE task = ?1")
            .and_then(|mut statement| statement.query_row([task.as_str()], |row| row.get(0)))
            .map_err(of)?;
        let mut stored = u64::try_from(last).map_err(|_| self.malformed())?;
        let mut insert = connection
            .prepare_cached(
                "INSERT INTO journal (task, sequence, kind, at, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )
            .map_err(of)?;
        for record in records {
            if stored.checked_add(1) != Some(record.sequence) {
                return Err(JournalError::NotNext {
                    task: task.clone(),
                    stored,
                    given: record.sequence,
                }
                .into());
            }
            insert
                .execute((
                    task.as_str(),
                    record.sequence.cast_signed(),
                    &record.kind,
                    record.at.to_string(),
                    &record.body,
                    record.hash.to_string(),
                ))
                .map_err(of)?;
            stored = record.sequence;
        }
        drop(insert);
        Ok(transaction.commit()?)
    }

    fn settle(&self) -> Result<(), Error> {
        Ok(self.writer()?.settle()?)
    }

    fn tasks(&self) -> Result<Vec<TaskId>, Error> {
        // Rows are only ever added, so their row ids grow in the order of the appends.
        let ids: Vec<String> = self.reading(|connection| {
            connection
                .prepare_cached("SELECT task FROM journal WHERE sequence = 1 ORDER BY rowid")?
                .query_map((), |row| row.get(0))?
                .collect()
        })?;
        ids.into_iter()
            .map(|id| id.parse().map_err(|_| self.malformed().into()))
            .collect()
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
