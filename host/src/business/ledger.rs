//! The ledger: one row per (plugin, subject, operation key). Rows are inserted and read, never changed.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    core::{
        contract::{OperationKey, Subject},
        ports::business::{LedgerRow, Operation, SubjectConflict},
    },
    sqlite::error::SqliteError,
    words::{
        digest::Digest,
        id::{PluginName, TaskId},
        json::{JsonBounds, JsonText},
    },
};

const COLUMNS: &str = "SELECT plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool, \
     arguments_digest, data, sequence, at FROM wharf_ledger ";

/// A row of the subject that another input wrote.
pub(super) fn conflict(
    connection: &Connection,
    path: &Path,
    plugin: &PluginName,
    subject: &Subject,
    input: &Digest,
) -> Result<Option<SubjectConflict>, SqliteError> {
    let row: Option<(String, String)> = connection
        .prepare_cached(
            "SELECT task, operation_key FROM wharf_ledger
             WHERE plugin = ?1 AND subject = ?2 AND input_digest <> ?3 ORDER BY operation_key LIMIT 1",
        )
        .and_then(|mut statement| {
            statement
                .query_row(
                    (plugin.as_str(), subject.as_str(), input.to_string()),
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()
        })
        .map_err(|e| SqliteError::of(path, e))?;
    let Some((task, key)) = row else {
        return Ok(None);
    };
    match (task.parse(), OperationKey::new(key)) {
        (Ok(task), Some(key)) => Ok(Some(SubjectConflict { task, key })),
        _ => Err(malformed(path)),
    }
}

/// The row that stands for an operation.
pub(super) fn find(
    connection: &Connection,
    path: &Path,
    plugin: &PluginName,
    subject: &Subject,
    key: &OperationKey,
) -> Result<Option<LedgerRow>, SqliteError> {
    let row = connection
        .prepare_cached(&format!(
            "{COLUMNS} WHERE plugin = ?1 AND subject = ?2 AND operation_key = ?3"
        ))
        .and_then(|mut statement| {
            statement
                .query_row((plugin.as_str(), subject.as_str(), key.as_str()), |row| {
                    Ok(read(row))
                })
                .optional()
        })
        .map_err(|e| SqliteError::of(path, e))?;
    row.map(|row| row.ok_or_else(|| malformed(path)))
        .transpose()
}

/// All rows of a task, in order of their journal position.
pub(super) fn of_task(
    connection: &Connection,
    path: &Path,
    task: &TaskId,
) -> Result<Vec<LedgerRow>, SqliteError> {
    let rows: Vec<Option<LedgerRow>> = connection
        .prepare_cached(&format!("{COLUMNS} WHERE task = ?1 ORDER BY sequence"))
        .and_then(|mut statement| {
            statement
                .query_map([task.as_str()], |row| Ok(read(row)))?
                .collect()
        })
        .map_err(|e| SqliteError::of(path, e))?;
    rows.into_iter()
        .map(|row| row.ok_or_else(|| malformed(path)))
        .collect()
}

/// Adds the row of a performed operation.
pub(super) fn insert(
    connection: &Connection,
    path: &Path,
    operation: &Operation,
    data: &JsonText,
) -> Result<(), SqliteError> {
    connection
        .prepare_cached(
            "INSERT INTO wharf_ledger (plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool,
                 arguments_digest, data, sequence, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )
        .and_then(|mut statement| {
            statement.execute(rusqlite::params![
                operation.plugin.as_str(),
                operation.subject.as_str(),
                operation.key.as_str(),
                operation.task.as_str(),
                operation.principal.as_str(),
                operation.fingerprint.to_string(),
                operation.input_digest.to_string(),
                operation.tool,
                operation.arguments_digest.to_string(),
                data.as_str(),
                operation.position.sequence.cast_signed(),
                operation.at.to_string(),
            ])
        })
        .map(|_| ())
        .map_err(|e| SqliteError::of(path, e))
}

/// The row that [`insert`] writes.
pub(super) fn row_of(operation: &Operation, data: JsonText) -> LedgerRow {
    LedgerRow {
        plugin: operation.plugin.clone(),
        subject: operation.subject.clone(),
        key: operation.key.clone(),
        task: operation.task.clone(),
        principal: operation.principal.clone(),
        fingerprint: operation.fingerprint,
        input_digest: operation.input_digest,
        tool: operation.tool.clone(),
        arguments_digest: operation.arguments_digest,
        data,
        sequence: operation.position.sequence,
        at: operation.at,
    }
}

/// None: a value has not the form that it was written in.
fn read(row: &Row<'_>) -> Option<LedgerRow> {
    const STORED: JsonBounds = JsonBounds {
        bytes: usize::MAX,
        depth: 100,
    };
    let text = |index: usize| row.get::<_, String>(index).ok();
    Some(LedgerRow {
        plugin: text(0)?.parse().ok()?,
        subject: Subject::new(text(1)?)?,
        key: OperationKey::new(text(2)?)?,
        task: text(3)?.parse().ok()?,
        principal: text(4)?.parse().ok()?,
        fingerprint: text(5)?.parse().ok()?,
        input_digest: text(6)?.parse().ok()?,
        tool: text(7)?,
        arguments_digest: text(8)?.parse().ok()?,
        data: JsonText::parse(text(9)?, STORED).ok()?,
        sequence: u64::try_from(row.get::<_, i64>(10).ok()?).ok()?,
        at: text(11)?.parse().ok()?,
    })
}

fn malformed(path: &Path) -> SqliteError {
    SqliteError::Malformed {
        path: path.to_owned(),
        what: "a ledger row",
    }
}
