//! What is left of a finished task that was removed: who it was, how it ended, and where its chain stood.
//!
//! Owns the table `wharf_removed`. Written by [`SqliteJournal::bury`](super::journal::SqliteJournal::bury) alone, in the
//! transaction that takes the records away.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{
    core::ports::journal::Position,
    words::{digest::Digest, id::TaskId},
};

/// A removed task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The task.
    pub task: TaskId,
    /// Of its request.
    pub fingerprint: Digest,
    /// How it had ended, as its report says.
    pub status: String,
    /// Its last record.
    pub position: Position,
    /// Of the ledger rows that it left.
    pub ledger: Digest,
    /// What its plugin's calls had burnt.
    pub fuel: u64,
    /// When its last record was made.
    pub finished_at: Timestamp,
    /// When it was removed.
    pub removed_at: Timestamp,
}

pub(super) fn insert(connection: &Connection, stone: &Tombstone) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "INSERT INTO wharf_removed (task, fingerprint, status, sequence, head, ledger, fuel, finished_at, removed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            stone.task.as_str(),
            stone.fingerprint.to_string(),
            &stone.status,
            stone.position.sequence.cast_signed(),
            stone.position.head.to_string(),
            stone.ledger.to_string(),
            i64::try_from(stone.fuel).unwrap_or(i64::MAX),
            stone.finished_at.to_string(),
            stone.removed_at.to_string(),
        ))?;
    Ok(())
}

/// That of a task; the inner none: its row is malformed.
pub(super) fn find(
    connection: &Connection,
    task: &TaskId,
) -> Result<Option<Option<Tombstone>>, rusqlite::Error> {
    if !is_kept(connection)? {
        return Ok(None);
    }
    connection
        .prepare_cached(
            "SELECT task, fingerprint, status, sequence, head, ledger, fuel, finished_at, removed_at
             FROM wharf_removed WHERE task = ?1",
        )?
        .query_row([task.as_str()], |row| Ok(tombstone(row)))
        .optional()
}

/// The tasks, in order of removal.
pub(super) fn tasks(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    if !is_kept(connection)? {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached("SELECT task FROM wharf_removed ORDER BY number")?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// The number of the last one, and the fuel of those behind a number.
pub(super) fn burnt_after(
    connection: &Connection,
    number: i64,
) -> Result<(i64, i64), rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT coalesce(max(number), ?1), coalesce(sum(fuel), 0) FROM wharf_removed WHERE number > ?1",
        )?
        .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A file with an older schema has no such table.
fn is_kept(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.table_exists(None, "wharf_removed")
}

fn tombstone(row: &Row<'_>) -> Option<Tombstone> {
    let text = |at: usize| row.get::<_, String>(at).ok();
    let number = |at: usize| u64::try_from(row.get::<_, i64>(at).ok()?).ok();
    Some(Tombstone {
        task: text(0)?.parse().ok()?,
        fingerprint: text(1)?.parse().ok()?,
        status: text(2)?,
        position: Position {
            sequence: number(3)?,
            head: text(4)?.parse().ok()?,
        },
        ledger: text(5)?.parse().ok()?,
        fuel: number(6)?,
        finished_at: text(7)?.parse().ok()?,
        removed_at: text(8)?.parse().ok()?,
    })
}
