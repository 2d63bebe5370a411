//! What outside tools read of a workspace, read as they do: with plain SQL.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, types::Value as Cell};
use serde_json::Value;

use super::Workspace;

/// A row of `wharf_ledger`.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRow {
    pub plugin: String,
    pub subject: String,
    pub operation_key: String,
    pub task: String,
    pub principal: String,
    pub fingerprint: String,
    pub input_digest: String,
    pub tool: String,
    pub arguments_digest: String,
    /// As the plugin wrote it.
    pub data: String,
    pub sequence: u64,
}

/// A row of `journal`.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRow {
    pub task: String,
    pub sequence: u64,
    pub kind: String,
    pub at: String,
    pub body: Value,
    pub hash: String,
}

impl Workspace {
    /// The whole ledger, in the order of the records that intended the operations.
    pub fn ledger(&self) -> Vec<LedgerRow> {
        let connection = self.open("business.sqlite");
        let mut rows = connection
            .prepare(
                "SELECT plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool, arguments_digest, data,
                        sequence
                 FROM wharf_ledger ORDER BY task, sequence",
            )
            .unwrap();
        rows.query_map([], |row| {
            Ok(LedgerRow {
                plugin: row.get(0)?,
                subject: row.get(1)?,
                operation_key: row.get(2)?,
                task: row.get(3)?,
                principal: row.get(4)?,
                fingerprint: row.get(5)?,
                input_digest: row.get(6)?,
                tool: row.get(7)?,
                arguments_digest: row.get(8)?,
                data: row.get(9)?,
                sequence: u64::try_from(row.get::<_, i64>(10)?).unwrap(),
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
    }

    /// The journal of a task.
    pub fn journal(&self, task: &str) -> Vec<JournalRow> {
        let connection = self.open("memory.sqlite");
        let mut rows = connection
            .prepare("SELECT task, sequence, kind, at, body, hash FROM journal WHERE task = ?1 ORDER BY sequence")
            .unwrap();
        rows.query_map([task], |row| {
            Ok(JournalRow {
                task: row.get(0)?,
                sequence: u64::try_from(row.get::<_, i64>(1)?).unwrap(),
                kind: row.get(2)?,
                at: row.get(3)?,
                body: serde_json::from_str(&row.get::<_, String>(4)?).unwrap(),
                hash: row.get(5)?,
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
    }

    /// What a query on the business database yields: a row per line, its cells between bars.
    pub fn select(&self, sql: &str) -> Vec<String> {
        self.select_in("business.sqlite", sql)
    }

    /// As [`Self::select`], of either database.
    pub fn select_in(&self, database: &str, sql: &str) -> Vec<String> {
        let connection = self.open(database);
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        statement
            .query_map([], |row| {
                let cells: Vec<_> = (0..columns)
                    .map(|column| match row.get_unwrap::<_, Cell>(column) {
                        Cell::Null => "-".to_owned(),
                        Cell::Integer(number) => number.to_string(),
                        Cell::Real(number) => number.to_string(),
                        Cell::Text(text) => text,
                        Cell::Blob(_) => "blob".to_owned(),
                    })
                    .collect();
                Ok(cells.join("|"))
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    }

    /// All tables of a database but the one that barriers change.
    pub(crate) fn tables(&self, database: &str) -> Vec<String> {
        self.select_in(
            database,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'wharf_barrier'",
        )
    }

    /// A database of the workspace, for reading.
    pub fn open(&self, name: &str) -> Connection {
        Connection::open_with_flags(self.path().join(name), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap()
    }

    /// A database of the workspace, for whoever tampers with it.
    pub fn open_for_tampering(&self, name: &str) -> Connection {
        Connection::open_with_flags(self.path().join(name), OpenFlags::SQLITE_OPEN_READ_WRITE)
            .unwrap()
    }
}

/// Changes a database, as anybody may who has the file.
pub fn execute(database: &Path, sql: &str) {
    Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}
