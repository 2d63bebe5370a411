//! The last durable journal record of each task. An anchor only moves forward.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::BusinessError;
use crate::{
    core::ports::journal::Position,
    sqlite::error::SqliteError,
    words::{error::Error, id::TaskId},
};

/// The anchor of a task.
pub(super) fn get(
    connection: &Connection,
    path: &Path,
    task: &TaskId,
) -> Result<Option<Position>, Error> {
    let row: Option<(i64, String)> = connection
        .prepare_cached("SELECT sequence, head FROM wharf_anchors WHERE task = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([task.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
        .map_err(|e| SqliteError::of(path, e))?;
    let Some((sequence, head)) = row else {
        return Ok(None);
    };
    let malformed = || SqliteError::Malformed {
        path: path.to_owned(),
        what: "an anchor",
    };
    Ok(Some(Position {
        sequence: u64::try_from(sequence).map_err(|_| malformed())?,
        head: head.parse().map_err(|_| malformed())?,
    }))
}

/// All tasks that have one.
pub(super) fn tasks(connection: &Connection, path: &Path) -> Result<Vec<TaskId>, SqliteError> {
    let tasks: Vec<String> = connection
        .prepare_cached("SELECT task FROM wharf_anchors ORDER BY task")
        .and_then(|mut statement| statement.query_map((), |row| row.get(0))?.collect())
        .map_err(|e| SqliteError::of(path, e))?;
    let parsed = tasks.into_iter().map(|task| {
        task.parse().map_err(|_| SqliteError::Malformed {
            path: path.to_owned(),
            what: "an anchor",
        })
    });
    parsed.collect()
}

/// Refuses a position that the task's anchor is past, or that names another record at the same place.
pub(super) fn check(
    connection: &Connection,
    path: &Path,
    task: &TaskId,
    position: &Position,
) -> Result<(), Error> {
    match get(connection, path, task)? {
        Some(stored)
            if stored.sequence > position.sequence
                || (stored.sequence == position.sequence && stored.head != position.head) =>
        {
            Err(BusinessError::AnchorConflict {
                task: task.clone(),
                stored: stored.sequence,
                given: position.sequence,
            }
            .into())
        }
        _ => Ok(()),
    }
}

/// Moves the anchor; to be checked before, in the same transaction.
pub(super) fn put(
    connection: &Connection,
    path: &Path,
    task: &TaskId,
    position: &Position,
) -> Result<(), SqliteError> {
    connection
        .prepare_cached(
            "INSERT INTO wharf_anchors (task, sequence, head) VALUES (?1, ?2, ?3)
             ON CONFLICT (task) DO UPDATE SET sequence = excluded.sequence, head = excluded.head",
        )
        .and_then(|mut statement| {
            statement.execute((
                task.as_str(),
                position.sequence.cast_signed(),
                position.head.to_string(),
            ))
        })
        .map(|_| ())
        .map_err(|e| SqliteError::of(path, e))
}
