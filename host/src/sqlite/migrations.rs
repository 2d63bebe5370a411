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
    /// The tables that they create.
    pub tables: &'static [&'static str],
}

/// The schema of `business.sqlite`.
pub const BUSINESS: &[HostMigration] = &[HostMigration {
    version: 1,
    name: "workspace",
    sql: include_str!("../../migrations/business/0001_workspace.sql"),
    tables: &[
        "wharf_workspace",
        "wharf_ledger",
        "wharf_anchors",
        "wharf_barrier",
        "wharf_tables",
        "wharf_plugin_migrations",
        "wharf_seeds",
    ],
}];

/// The schema of `memory.sqlite`.
pub const MEMORY: &[HostMigration] = &[
    HostMigration {
        version: 1,
        name: "journal",
        sql: include_str!("../../migrations/memory/0001_journal.sql"),
        tables: &["journal", "wharf_barrier"],
    },
    HostMigration {
        version: 2,
        name: "memories",
        sql: include_str!("../../migrations/memory/0002_memories.sql"),
        // Those of the index are its own, and gone with it.
        tables: &[
            "memories",
            "memory_categories",
            "memory_words",
            "memory_words_config",
            "memory_words_data",
            "memory_words_docsize",
            "memory_words_idx",
        ],
    },
    HostMigration {
        version: 3,
        name: "removed",
        sql: include_str!("../../migrations/memory/0003_removed.sql"),
        tables: &["wharf_removed"],
    },
];

const NAME: &str = "wharf_migrations";

const TABLE: &str = "CREATE TABLE IF NOT EXISTS wharf_migrations (
    version    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,  -- SHA-256 of its statements
    applied_at TEXT    NOT NULL   -- RFC 3339, UTC
) STRICT";

/// Compares what was applied with what is known, changes nothing, and yields how many migrations were applied.
///
/// # Errors
/// A foreign database, a newer schema, a changed checksum, a gap, a table that is gone.
pub fn check(
    connection: &Connection,
    path: &Path,
    known: &[HostMigration],
) -> Result<u32, SqliteError> {
    let of = |e| SqliteError::of(path, e);
    let lost = |table: &str| SqliteError::TableLost {
        path: path.to_owned(),
        table: table.to_owned(),
    };
    let before = names(connection).map_err(of)?;
    if !before.iter().any(|name| name == NAME) {
        return if before.is_empty() {
            Ok(0)
        } else if before.iter().any(|name| name.starts_with("wharf_")) {
            Err(lost(NAME))
        } else {
            Err(SqliteError::Foreign {
                path: path.to_owned(),
            })
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
            path: path.to_owned(),
            found,
            known: newest(known),
        });
    }
    for (index, migration) in known.iter().take(found as usize).enumerate() {
        let version = migration.version;
        match rows.get(index) {
            Some((v, checksum)) if *v == version => {
                if *checksum != Digest::of(migration.sql).to_string() {
                    return Err(SqliteError::MigrationChanged {
                        path: path.to_owned(),
                        version,
                    });
                }
            }
            _ => {
                return Err(SqliteError::MigrationMissing {
                    path: path.to_owned(),
                    version,
                });
            }
        }
    }
    // Read after the rows, so that what another process applies meanwhile is not missed.
    let names = names(connection).map_err(of)?;
    let applied = known.iter().take(found as usize);
    match applied
        .flat_map(|migration| migration.tables)
        .find(|table| !names.iter().any(|name| name == *table))
    {
        Some(table) => Err(lost(table)),
        None => Ok(found),
    }
}

fn names(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    connection
        .prepare("SELECT name FROM sqlite_schema")?
        .query_map((), |row| row.get(0))?
        .collect()
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
    let newest = known.last().map_or(0, |migration| migration.version);
    require_from(connection, path, known, newest)
}

/// As [`require`], of whoever needs no more than the migrations up to `needed`: nothing that came later has changed them.
///
/// # Errors
/// As [`require`].
pub fn require_from(
    connection: &Connection,
    path: &Path,
    known: &[HostMigration],
    needed: u32,
) -> Result<(), SqliteError> {
    let found = check(connection, path, known)?;
    if found < needed {
        return Err(SqliteError::OlderSchema {
            path: path.to_owned(),
            found,
            known: needed,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::config::DbConfig;

    use super::*;
    use crate::sqlite::open::in_memory;

    const FIRST: HostMigration = HostMigration {
        version: 1,
        name: "first",
        sql: "CREATE TABLE a (x) STRICT; ",
        tables: &["a"],
    };
    const OK: HostMigration = HostMigration {
        version: 1,
        name: "first",
        sql: "CREATE TABLE a (x INTEGER) STRICT;",
        tables: &["a"],
    };
    const SECOND: HostMigration = HostMigration {
        version: 2,
        name: "second",
        sql: "ALTER TABLE a ADD COLUMN y INTEGER;",
        tables: &[],
    };

    fn at() -> Timestamp {
        "2030-01-02T03:04:05Z".parse().unwrap()
    }

    fn apply_to(connection: &mut Connection, known: &[HostMigration]) -> Result<(), SqliteError> {
        apply(connection, Path::new("a.sqlite"), known, at())
    }

    fn schema(connection: &Connection) -> Vec<String> {
        connection
            .prepare("SELECT sql FROM sqlite_schema ORDER BY name")
            .unwrap()
            .query_map((), |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    #[test]
    fn an_upgraded_schema_equals_a_fresh_one_and_applying_twice_changes_nothing() {
        let (mut fresh, mut upgraded) = (in_memory().unwrap(), in_memory().unwrap());
        apply_to(&mut fresh, &[OK, SECOND]).unwrap();
        apply_to(&mut upgraded, &[OK]).unwrap();
        apply_to(&mut upgraded, &[OK, SECOND]).unwrap();
        apply_to(&mut upgraded, &[OK, SECOND]).unwrap();
        assert_eq!(schema(&fresh), schema(&upgraded));
        let row: (u32, String, String, String) = upgraded
            .query_row(
                "SELECT * FROM wharf_migrations WHERE version = 2",
                (),
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .unwrap();
        assert_eq!(
            (row.0, row.1.as_str(), row.3.as_str()),
            (2, "second", "2030-01-02T03:04:05Z")
        );
        assert_eq!(row.2, Digest::of(SECOND.sql).to_string());
    }

    /// S3: half a migration is none.
    #[test]
    fn a_migration_that_fails_leaves_nothing_of_itself() {
        let mut connection = in_memory().unwrap();
        // A strict table without types is refused by SQLite.
        assert!(apply_to(&mut connection, &[FIRST]).is_err());
        assert!(schema(&connection).is_empty());
    }

    #[test]
    fn newer_changed_and_missing_are_told_apart() {
        let mut connection = in_memory().unwrap();
        apply_to(&mut connection, &[OK, SECOND]).unwrap();
        assert!(matches!(
            apply_to(&mut connection, &[OK]),
            Err(SqliteError::NewerSchema {
                found: 2,
                known: 1,
                ..
            })
        ));
        assert!(matches!(
            apply_to(&mut connection, &[FIRST, SECOND]),
            Err(SqliteError::MigrationChanged { version: 1, .. })
        ));
        connection
            .execute("DELETE FROM wharf_migrations WHERE version = 1", ())
            .unwrap();
        assert!(matches!(
            apply_to(&mut connection, &[OK, SECOND]),
            Err(SqliteError::MigrationMissing { version: 1, .. })
        ));
        let older = in_memory().unwrap();
        assert!(matches!(
            require(&older, Path::new("a.sqlite"), &[OK]),
            Err(SqliteError::OlderSchema {
                found: 0,
                known: 1,
                ..
            })
        ));
    }

    #[test]
    fn a_table_that_is_gone_is_named_before_anything_is_done() {
        for list in [BUSINESS, MEMORY] {
            let mut tables: Vec<_> = list.iter().flat_map(|migration| migration.tables).collect();
            let mut fresh = in_memory().unwrap();
            apply_to(&mut fresh, list).unwrap();
            let created: Vec<String> = fresh
                .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
                .unwrap()
                .query_map((), |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            tables.push(&NAME);
            tables.sort();
            assert_eq!(tables, created.iter().collect::<Vec<_>>());
            for gone in tables {
                let mut connection = in_memory().unwrap();
                apply_to(&mut connection, list).unwrap();
                // As another program would do it, to which the tables of an index are tables like others.
                connection
                    .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
                    .unwrap();
                connection
                    .execute_batch(&format!("DROP TABLE {gone}"))
                    .unwrap();
                assert!(
                    matches!(
                        apply_to(&mut connection, list),
                        Err(SqliteError::TableLost { table, .. }) if table == **gone
                    ),
                    "{gone}"
                );
            }
        }
    }

    #[test]
    fn the_released_schemas_are_numbered_without_gaps() {
        for list in [BUSINESS, MEMORY] {
            for (version, migration) in (1..).zip(list) {
                assert_eq!(migration.version, version);
            }
        }
    }
}
