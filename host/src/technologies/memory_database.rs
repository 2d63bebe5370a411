//! The file `memory.sqlite`: one writing connection, which the journal and the memories share, and some reading ones.
//!
//! Owns how the file is opened. Knows no table of it. Made by the host's wiring, held by
//! [`SqliteJournal`](super::journal::SqliteJournal) and [`SqliteMemories`](super::memories::SqliteMemories).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::Connection;

use crate::{
    sqlite::{
        deadline,
        error::SqliteError,
        migrations::{self, MEMORY},
        open,
        readers::Readers,
        writer::Writer,
    },
    words::{
        clock::{Clock, SystemClock},
        error::Error,
    },
};

/// The version of the schema that has all that is read from a file that is opened for reading only.
const READABLE: u32 = 1;

/// An open `memory.sqlite`. May be shared by any number of threads; several processes may hold the same file.
pub struct MemoryDatabase {
    // Closed before the writer, so that the writer's close tidies up the files beside the database.
    readers: Readers<Connection>,
    writer: Option<Writer>,
    path: PathBuf,
    clock: Arc<dyn Clock>,
}

impl MemoryDatabase {
    /// Opens the file, brings its schema up to date, and creates it where there is none. `at` is the time that new rows
    /// of the host's own tables carry; `busy` bounds the wait for another process (see [`open::BUSY`]).
    ///
    /// # Errors
    /// A newer schema, a foreign or damaged file, all untouched; a file that cannot be opened, can only be read or stays
    /// locked.
    pub fn open(
        path: &Path,
        busy: Duration,
        clock: Arc<dyn Clock>,
        at: Timestamp,
    ) -> Result<Self, Error> {
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
            readers: Readers::new(move || {
                let mut connection = open::reader(&file, busy)?;
                deadline::heed(&mut connection).map_err(|e| SqliteError::of(&file, e))?;
                Ok(connection)
            }),
            writer: Some(writer),
            path: path.to_owned(),
            clock,
        })
    }

    /// Opens an existing file without writing, whatever released schema it has. Leaves no file beside it. None: there is no
    /// file, or one whose preparation did not get as far as its tables.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_read_only(path: &Path, busy: Duration) -> Result<Option<Self>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let file = path.to_owned();
        let readers = Readers::new(move || {
            let connection = open::read_only(&file, busy)?;
            migrations::require_from(&connection, &file, MEMORY, READABLE)?;
            Ok(connection)
        });
        match readers.take() {
            Err(SqliteError::OlderSchema { found: 0, .. }) => return Ok(None),
            other => readers.give_back(other?),
        }
        Ok(Some(Self {
            readers,
            writer: None,
            path: path.to_owned(),
            clock: Arc::new(SystemClock),
        }))
    }

    /// The writing connection; none: the file was opened for reading only.
    pub(super) fn writer(&self) -> Option<&Writer> {
        self.writer.as_ref()
    }

    /// The time that is written.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Reads on a connection of the caller's alone, without waiting for a writer.
    pub(super) fn reading<R>(
        &self,
        read: impl FnOnce(&Connection) -> Result<R, rusqlite::Error>,
    ) -> Result<R, SqliteError> {
        let reader = self.readers.take()?;
        let result = read(&reader).map_err(|e| self.error(e));
        self.readers.give_back(reader);
        result
    }

    /// What SQLite reported of this file.
    pub(super) fn error(&self, error: rusqlite::Error) -> SqliteError {
        SqliteError::of(&self.path, error)
    }

    /// A value of this file has not the form that it was written in.
    pub(super) fn malformed(&self, what: &'static str) -> SqliteError {
        SqliteError::Malformed {
            path: self.path.clone(),
            what,
        }
    }
}
