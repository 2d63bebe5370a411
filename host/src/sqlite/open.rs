//! Opens SQLite files. The only file that does, so that every connection is hardened before anything runs on it.

use std::{fs, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, config::DbConfig};

use super::error::SqliteError;
use crate::words::stopwatch::Stopwatch;

/// How long a statement waits for another process before it fails as `database-locked`, unless told otherwise.
pub const BUSY: Duration = Duration::from_secs(4);

/// How long to wait before a refusal that SQLite does not wait for is tried again.
const AGAIN: Duration = Duration::from_millis(5);

/// Opens a file for reading and writing and creates it if there is none. A commit on the connection is visible when it returns, and
/// durable once its [`Writer`](super::writer::Writer) says so, or a checkpoint was made (`synchronous=NORMAL`).
///
/// Nothing is written before `admit` has seen the connection, so that it can refuse a file and leave it untouched.
///
/// # Errors
/// The file cannot be opened, is no database, can only be read, is locked for longer than `busy`, or `admit` refuses it.
pub fn read_write(
    path: &Path,
    busy: Duration,
    admit: impl FnOnce(&Connection) -> Result<(), SqliteError>,
) -> Result<Connection, SqliteError> {
    let connection = open(
        path,
        busy,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    if connection
        .is_readonly(MAIN_DB)
        .map_err(|e| SqliteError::of(path, e))?
    {
        return Err(SqliteError::ReadOnly {
            path: path.to_owned(),
        });
    }
    admit(&connection)?;
    let mode = write_ahead_log(&connection, busy).map_err(|e| SqliteError::of(path, e))?;
    connection
        .execute_batch("PRAGMA synchronous = NORMAL")
        .map_err(|e| SqliteError::of(path, e))?;
    if mode != "wal" {
        return Err(SqliteError::NoWriteAheadLog {
            path: path.to_owned(),
        });
    }
    Ok(connection)
}

/// Where several open a new file at once, SQLite refuses all but one to change its mode, without waiting for any of them.
fn write_ahead_log(connection: &Connection, busy: Duration) -> Result<String, rusqlite::Error> {
    let began = Stopwatch::start();
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0));
        match mode {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < busy =>
            {
                std::thread::sleep(AGAIN);
            }
            mode => return mode,
        }
    }
}

/// A further connection, for reading, to a file that this process holds open for writing.
///
/// # Errors
/// As [`read_write`]; also a missing file.
pub fn reader(path: &Path, busy: Duration) -> Result<Connection, SqliteError> {
    open(path, busy, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens an existing file without changing it or leaving anything beside it.
///
/// A connection opened with SQLite's own read-only flag leaves a `-wal` and a `-shm` file beside a database that was
/// closed well. So the file is opened for writing, with writing switched off: the last close then removes both. Where a
/// `-wal` file with content stands there already (a live or a killed process left it), closing must not move its
/// content into the database either, so the checkpoint on close is switched off.
///
/// # Errors
/// As [`read_write`]; also a missing file.
pub fn read_only(path: &Path, busy: Duration) -> Result<Connection, SqliteError> {
    if !path.exists() {
        return Err(SqliteError::Missing {
            path: path.to_owned(),
        });
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let pending = fs::metadata(Path::new(&log)).is_ok_and(|file| file.len() > 0);
    let connection = open(path, busy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let harden = || {
        if pending {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        connection.execute_batch("PRAGMA query_only = ON;")
    };
    harden().map_err(|e| SqliteError::of(path, e))?;
    Ok(connection)
}

/// A database in memory, for trying something out. It is gone when it is dropped.
///
/// # Errors
/// SQLite fails.
pub fn in_memory() -> Result<Connection, SqliteError> {
    open(
        Path::new(":memory:"),
        BUSY,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_MEMORY,
    )
}

/// Lowers the most memory that SQLite may use in this process, over all connections. It cannot be raised again: of
/// several limits the lowest stands.
///
/// # Errors
/// SQLite fails.
pub fn limit_heap(connection: &Connection, bytes: u64) -> Result<(), rusqlite::Error> {
    connection.query_row(&format!("PRAGMA hard_heap_limit = {bytes}"), (), |_| Ok(()))
}

/// Bounds the size of the connection's file. A file that is larger already stays as it is and grows no more.
///
/// # Errors
/// SQLite fails.
pub fn limit_size(connection: &Connection, bytes: u64) -> Result<(), rusqlite::Error> {
    let page: u32 = connection.query_row("PRAGMA page_size", (), |row| row.get(0))?;
    // 0 would ask and set nothing; 2^32 - 2 is SQLite's own bound.
    let pages = (bytes / u64::from(page)).clamp(1, 0xffff_fffe);
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
}

/// Bytes of the connection's file as it will be once its log is written back: what [`limit_size`] bounds.
///
/// # Errors
/// SQLite fails.
pub fn size(connection: &Connection) -> Result<u64, rusqlite::Error> {
    let of = |pragma: &str| connection.query_row(pragma, (), |row| row.get::<_, u32>(0));
    Ok(u64::from(of("PRAGMA page_count")?) * u64::from(of("PRAGMA page_size")?))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that opens SQLite files"
)]
fn open(path: &Path, busy: Duration, flags: OpenFlags) -> Result<Connection, SqliteError> {
    let of = |e| SqliteError::of(path, e);
    let connection =
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(of)?;
    connection.busy_timeout(busy).map_err(of)?;
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        // A plan depends on the statement alone. Without this, SQLite prepares a cached statement again whenever a value
        // is bound that could have led to another plan.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        connection.set_db_config(setting, value).map_err(of)?;
    }
    // The first read of the file: whether it is a database at all shows here.
    connection
        .query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))
        .map_err(of)?;
    // Sorts and temporary tables go to files, so that memory does not grow with the rows of a query.
    connection
        .execute_batch("PRAGMA temp_store = FILE;")
        .map_err(of)?;
    Ok(connection)
}
