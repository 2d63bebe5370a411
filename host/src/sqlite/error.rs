//! What can go wrong with a SQLite file, told apart.

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::ErrorCode;

use crate::words::error::{Facts, Fault, Kind};

/// A failure of one SQLite file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// There is no such file, and it was to be read only.
    #[error("there is no database {path}")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be opened or created.
    #[error("the database {path} cannot be opened")]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// The file is something else than a SQLite database.
    #[error("{path} is not a SQLite database")]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// A SQLite database that Wharf did not make.
    #[error("{path} is a database of another program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// SQLite found damaged pages.
    #[error("the database {path} is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// Another process held the file for longer than the busy timeout.
    #[error("the database {path} is locked by another process")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No space is left.
    #[error("the disk is full under the database {path}")]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be written, or was opened for reading only.
    #[error("the database {path} can only be read")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file system does not allow a write-ahead log.
    #[error("the database {path} cannot have a write-ahead log")]
    NoWriteAheadLog {
        /// The file.
        path: PathBuf,
    },
    /// The operating system failed to read, write or sync.
    #[error("the disk failed under the database {path}")]
    Disk {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// What was committed could not be made durable.
    #[error("the disk failed to make the last commits to the database {path} durable")]
    SyncFailed {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// As [`Self::SyncFailed`], some time before: the system forgets what it lost, so this process can no longer tell.
    #[error("the disk has failed before under the database {path}")]
    SyncFailedBefore {
        /// The file.
        path: PathBuf,
    },
    /// SQLite's heap limit was reached.
    #[error("SQLite's memory limit was reached in {path}")]
    OutOfMemory {
        /// The file.
        path: PathBuf,
    },
    /// The schema was made by a newer version of Wharf. Nothing was changed.
    #[error("the schema of {path} has version {found}, this program knows {known}")]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The newest version applied.
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// The schema is older than this program's, and the file was opened for reading only.
    #[error("the schema of {path} has version {found}, this program needs {known}")]
    OlderSchema {
        /// The file.
        path: PathBuf,
        /// The newest version applied.
        found: u32,
        /// The version needed.
        known: u32,
    },
    /// A migration that was applied is not the one this program has under that number.
    #[error("migration {version} of {path} is not the one that was applied")]
    MigrationChanged {
        /// The file.
        path: PathBuf,
        /// The migration's number.
        version: u32,
    },
    /// The record of applied migrations has a gap.
    #[error("migration {version} of {path} was never applied, although a later one was")]
    MigrationMissing {
        /// The file.
        path: PathBuf,
        /// The migration's number.
        version: u32,
    },
    /// One of the host's own tables is gone.
    #[error("the database {path} lacks a table")]
    MissingTable {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// A table that a migration created is gone.
    #[error("the database {path} lacks the table {table}")]
    TableLost {
        /// The file.
        path: PathBuf,
        /// The table.
        table: String,
    },
    /// A stored value has not the form it was written in.
    #[error("the database {path} holds {what} that was not written by Wharf")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Which value.
        what: &'static str,
    },
    /// A statement of the host itself failed in a way it should not.
    #[error("a statement failed in the database {path}")]
    Statement {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        source: rusqlite::Error,
    },
}

impl SqliteError {
    /// The variant for a failure that SQLite reported on `path`.
    #[must_use]
    pub fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::CannotOpen { path, source }
            }
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, source },
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Locked { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::SystemIoFailure) => Self::Disk { path, source },
            Some(ErrorCode::OutOfMemory) => Self::OutOfMemory { path },
            _ if source.to_string().starts_with("no such table") => {
                Self::MissingTable { path, source }
            }
            _ => Self::Statement { path, source },
        }
    }
}

impl Fault for SqliteError {
    fn facts(&self) -> Facts {
        const RESTORE: &str = "restore the workspace from a backup, or use a new one";
        const MATCHING: &str =
            "use the version of Wharf that last wrote this workspace, or a newer one";
        match self {
            Self::Missing { .. } => Facts::new(
                "database-missing",
                Kind::Unavailable,
                "check the workspace's path",
            ),
            Self::CannotOpen { .. } => Facts::new(
                "database-cannot-open",
                Kind::Unavailable,
                "check that the folder exists and that this user may read and write it",
            ),
            Self::NotADatabase { .. } => Facts::new("database-not-sqlite", Kind::Corrupt, RESTORE),
            Self::Foreign { .. } => Facts::new(
                "database-foreign",
                Kind::InvalidInput,
                "choose a folder that is empty or holds a workspace; nothing was changed",
            ),
            Self::Damaged { .. } => Facts::new("database-damaged", Kind::Corrupt, RESTORE),
            Self::Locked { .. } => Facts::new(
                "database-locked",
                Kind::Unavailable,
                "wait for the other process, or end it, and try again",
            ),
            Self::DiskFull { .. } => Facts::new(
                "disk-full",
                Kind::Unavailable,
                "free some space and resume; what was committed stands",
            ),
            Self::ReadOnly { .. } => Facts::new(
                "database-read-only",
                Kind::Unavailable,
                "make the file and its folder writable for this user",
            ),
            Self::NoWriteAheadLog { .. } => Facts::new(
                "database-no-wal",
                Kind::Unavailable,
                "keep the workspace on a local disk",
            ),
            Self::Disk { .. } => Facts::new(
                "disk-failed",
                Kind::Unavailable,
                "check the disk and resume; what was committed stands",
            ),
            Self::SyncFailed { .. } | Self::SyncFailedBefore { .. } => Facts::new(
                "disk-failed",
                Kind::Unavailable,
                "check the disk, end this process, and resume; whatever was reported as finished stands",
            ),
            Self::OutOfMemory { .. } => Facts::new(
                "sqlite-memory-limit",
                Kind::Limit,
                "try again; raise the heap limit if it happens without a hostile plugin",
            ),
            Self::NewerSchema { .. } => Facts::new("schema-newer", Kind::Conflict, MATCHING),
            Self::OlderSchema { .. } => Facts::new(
                "schema-older",
                Kind::Conflict,
                "open the workspace for writing once, which brings its schema up to date",
            ),
            Self::MigrationChanged { .. } => {
                Facts::new("migration-changed", Kind::Corrupt, MATCHING)
            }
            Self::MigrationMissing { .. } => {
                Facts::new("migration-missing", Kind::Corrupt, RESTORE)
            }
            Self::MissingTable { .. } | Self::TableLost { .. } => {
                Facts::new("table-missing", Kind::Corrupt, RESTORE)
            }
            Self::Malformed { .. } => Facts::new("row-malformed", Kind::Corrupt, RESTORE),
            Self::Statement { .. } => Facts::new(
                "statement-failed",
                Kind::Bug,
                "report it with the cause above",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;
    use crate::words::error::Error;

    #[test]
    fn what_sqlite_reports_is_told_apart() {
        for (code, expected, kind) in [
            (
                ffi::SQLITE_CANTOPEN,
                "database-cannot-open",
                Kind::Unavailable,
            ),
            (ffi::SQLITE_PERM, "database-cannot-open", Kind::Unavailable),
            (ffi::SQLITE_NOTADB, "database-not-sqlite", Kind::Corrupt),
            (ffi::SQLITE_CORRUPT, "database-damaged", Kind::Corrupt),
            (ffi::SQLITE_BUSY, "database-locked", Kind::Unavailable),
            (
                ffi::SQLITE_BUSY_RECOVERY,
                "database-locked",
                Kind::Unavailable,
            ),
            (ffi::SQLITE_FULL, "disk-full", Kind::Unavailable),
            (
                ffi::SQLITE_READONLY,
                "database-read-only",
                Kind::Unavailable,
            ),
            (ffi::SQLITE_IOERR_FSYNC, "disk-failed", Kind::Unavailable),
            (ffi::SQLITE_NOMEM, "sqlite-memory-limit", Kind::Limit),
            (ffi::SQLITE_MISUSE, "statement-failed", Kind::Bug),
        ] {
            let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = Error::from(SqliteError::of(Path::new("a.sqlite"), source));
            assert_eq!((error.code(), error.kind()), (expected, kind));
            assert!(error.to_string().contains("a.sqlite"));
        }
    }
}
