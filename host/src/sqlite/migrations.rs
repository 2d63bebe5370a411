//! The host's own numbered schema changes: `host/migrations/<database>/NNNN_name.sql`, from 1 upwards.
//!
//! Each is applied once, in one transaction together with its row in `wharf_migrations`. A file whose rows this program
//! does not know, or whose texts have changed, is refused before anything is written.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::error::SqliteError;
use crate::words::digest::Digest;

/// One numbered schema change of the host.
#[derive(Debug, Clone, Copy)]
pub struct HostMigration {
    /// Its number, from 1 upwards without gaps.
    pub version: u32,
    /// What it is about.
    pub name: &'static str,
    /// The statements.
    pub sql: &'static str,
}

/// The schema of `business.sqlite`.
pub const BUSINESS: &[HostMigration] = &[HostMigration {
    version: 1,
    name: "workspace",
    sql: include_str!("../../migrations/business/0001_workspace.sql"),
}];

/// The schema of `memory.sqlite`.
pub const MEMORY: &[HostMigration] = &[HostMigration {
    version: 1,
    name: "journal",
    sql: include_str!("../../migrations/memory/0001_journal.sql"),
}];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS wharf_migrations (
    version    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,  -- SHA-256 of its statements
    applied_at TEXT    NOT NULL   -- RFC 3339, UTC
) STRICT";

/// Compares what was applied with what is known, changes nothing, and yields how many migrations were applied.
///
/// # Errors
/// A foreign database, a newer schema, a changed checksum, a gap.
pub fn check(
    connection: &Connection,
    path: &Path,
    known: &[HostMigration],
) -> Result<u32, SqliteError> {
    let of = |e| SqliteError::of(path, e);
    let path = path.to_owned();
    let mut names = connection
        .prepare("SELECT name FROM sqlite_schema")
        .map_err(of)?;
    let names: Vec<String> = names
        .query_map((), |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(of)?;
    if !names.iter().any(|name| name == "wharf_migrations") {
        return if names.is_empty() {
            Ok(0)
        } else {
            Err(SqliteError::Foreign { path })
        };
    }
    let mut rows = connection
        .prepare("SELECT version, checksum FROM wharf_migrations ORDER BY version")
        .map_err(of)?;
    let rows: Vec<(u32, String)> = rows
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .map_err(of)?;
    let newest = |list: &[HostMigration]| list.last().map_or(0, |migration| migration.version);
    let found = rows.last().map_or(0, |row| row.0);
    if found > newest(known) {
        return Err(SqliteError::NewerSchema {
            path,
            found,
            known: newest(known),
        });
    }
    for (index, migration) in known.iter().take(found as usize).enumerate() {
        let version = migration.version;
        match rows.get(index) {
            Some((v, checksum)) if *v == version => {
                if *checksum != Digest::of(migration.sql).to_string() {
                    return Err(SqliteError::MigrationChanged { path, version });
                }
            }
            _ => return Err(SqliteError::MigrationMissing { path, version }),
        }
    }
    Ok(found)
}

/// Applies what is missing, each migration in its own transaction.
///
/// # Errors
/// As [`check`]; a disk or a lock.
pub fn apply(
    connection: &mut Connection,
    path: &Path,
    known: &[HostMigration],
    at: Timestamp,
) -> Result<(), SqliteError> {
    let of = |e| SqliteError::of(path, e);
    let found = check(connection, path, known)?;
    for migration in &known[found as usize..] {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(of)?;
        transaction.execute_batch(TABLE).map_err(of)?;
        // Another process may have been faster.
        let there = transaction
            .query_row(
                "SELECT 1 FROM wharf_migrations WHERE version = ?1",
                [migration.version],
                |_| Ok(()),
            )
            .optional()
            .map_err(of)?;
        if there.is_some() {
            continue;
        }
        transaction.execute_batch(migration.sql).map_err(of)?;
        transaction
            .execute(
                "INSERT INTO wharf_migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                (
                    migration.version,
                    migration.name,
                    Digest::of(migration.sql).to_string(),
                    at.to_string(),
                ),
            )
            .map_err(of)?;
        transaction.commit().map_err(of)?;
    }
    Ok(())
}

/// As [`check`], and refuses a schema that still lacks migrations; for reading without writing.
///
/// # Errors
/// As [`check`]; an older schema.
pub fn require(
    connection: &Connection,
    path: &Path,
    known: &[HostMigration],
) -> Result<(), SqliteError> {
    let found = check(connection, path, known)?;
    let needed = known.last().map_or(0, |migration| migration.version);
    if found < needed {
        return Err(SqliteError::OlderSchema {
            path: path.to_owned(),
            found,
            known: needed,
        });
    }
    Ok(())
}
