//! Real files, one folder per test.

mod attacks;
mod denials;
mod durability;
mod exactly_once;
mod handle;
mod guards;
mod holes;
mod honest;
mod installation;
mod limits;
mod opening;
mod quota;
mod several;
mod sizes;
mod state;

use std::{num::NonZeroU32, path::PathBuf, sync::Arc};

use jiff::Timestamp;
use tempfile::TempDir;

use super::{BusinessStore, SqlLimits};
use crate::{
    core::{
        contract::{Effect, Failure, Migration, OperationKey, StepAnswer, Subject},
        ports::{
            business::{
                Business, Operation, Performed, Read, RowSet, Sql, SqlFault, SqlValue,
                SubjectConflict,
            },
            journal::Position,
        },
    },
    words::{digest::Digest, error::Error, json::JsonText},
};

pub(super) const TABLES: &str = "
    CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, n INTEGER NOT NULL CHECK (n >= 0), body TEXT) STRICT;
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE parts (item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE, label TEXT NOT NULL);
    CREATE INDEX items_small ON items (n) WHERE n < 10;
    CREATE VIEW small_items AS SELECT id, name FROM items WHERE n < 10;
";

pub(super) struct Fixture {
    pub(super) folder: TempDir,
    pub(super) store: BusinessStore,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::with(SqlLimits::standard())
    }

    pub(super) fn with(limits: SqlLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder, limits);
        store
            .install(&"p".parse().unwrap(), &migrations(&[TABLES]), at())
            .unwrap();
        store
            .install(
                &"q".parse().unwrap(),
                &migrations(&["CREATE TABLE others (x)"]),
                at(),
            )
            .unwrap();
        Self { folder, store }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("business.sqlite")
    }

    /// A connection of somebody else.
    pub(super) fn outside(&self) -> rusqlite::Connection {
        crate::sqlite::open::read_write(&self.path(), crate::sqlite::open::BUSY, |_| Ok(()))
            .unwrap()
    }

    pub(super) fn count(&self, sql: &str) -> i64 {
        self.outside().query_row(sql, (), |row| row.get(0)).unwrap()
    }

    /// Performs `key` for `task`, which adds an item named like the key.
    pub(super) fn add(&self, task: &str, key: &str) -> Performed {
        self.store
            .perform(&operation(task, key), &mut |sql| {
                add_item(&*sql, key);
                done()
            })
            .unwrap()
    }

    /// Runs `call` with the SQL of a write, which is then declined.
    pub(super) fn writing<R>(&self, mut call: impl FnMut(&dyn Sql) -> R) -> R {
        let mut result = None;
        let _ = self
            .store
            .perform(&operation("trial", "trial"), &mut |sql| {
                result = Some(call(&*sql));
                Ok(Ok(StepAnswer::Declined(JsonText::of(&1))))
            });
        result.expect("the step was called")
    }

    /// Runs `call` with the SQL of a read.
    pub(super) fn reading<R>(&self, mut call: impl FnMut(&dyn Sql) -> R) -> R {
        let mut result = None;
        let read = Read {
            plugin: "p".parse().unwrap(),
            subject: None,
        };
        let _ = self.store.read(&read, &mut |sql| {
            result = Some(call(&*sql));
            Ok(())
        });
        result.expect("the read was called")
    }
}

pub(super) fn open(folder: &TempDir, limits: SqlLimits) -> BusinessStore {
    BusinessStore::open(
        &folder.path().join("business.sqlite"),
        &"tenant".parse().unwrap(),
        limits,
        at(),
    )
    .unwrap()
}

pub(super) fn at() -> Timestamp {
    "2030-01-02T03:04:05Z".parse().unwrap()
}

pub(super) fn some(value: u32) -> NonZeroU32 {
    NonZeroU32::new(value).unwrap()
}

pub(super) fn migrations(texts: &[&str]) -> Vec<Migration> {
    (1..)
        .zip(texts)
        .map(|(version, sql)| Migration {
            version,
            sql: (*sql).to_owned(),
        })
        .collect()
}

pub(super) fn operation(task: &str, key: &str) -> Operation {
    Operation {
        plugin: "p".parse().unwrap(),
        subject: Subject::new("subject".into()).unwrap(),
        key: OperationKey::new(key.into()).unwrap(),
        task: task.parse().unwrap(),
        principal: "someone".parse().unwrap(),
        fingerprint: Digest::of(task),
        input_digest: Digest::of("input"),
        tool: "tool".into(),
        arguments_digest: Digest::of("null"),
        effect: Effect::Write,
        position: position(1),
        at: at(),
    }
}

pub(super) fn position(sequence: u64) -> Position {
    Position {
        sequence,
        head: Digest::of(sequence.to_string()),
    }
}

pub(super) fn done() -> Result<Result<StepAnswer, Failure>, Error> {
    Ok(Ok(StepAnswer::Done {
        state: "done".into(),
        data: JsonText::parse(
            "{\"b\": 1.0, \"a\":2}",
            crate::words::json::JsonBounds {
                bytes: 100,
                depth: 5,
            },
        )
        .unwrap(),
    }))
}

pub(super) fn add_item(sql: &dyn Sql, name: &str) {
    let changed = sql
        .execute(
            "INSERT INTO items (name, n) VALUES (?1, ?2)",
            &[SqlValue::Text(name.into()), SqlValue::Integer(1)],
        )
        .unwrap();
    assert_eq!(changed, 1);
}

pub(super) fn conflict(task: &str, key: &str) -> SubjectConflict {
    SubjectConflict {
        task: task.parse().unwrap(),
        key: OperationKey::new(key.into()).unwrap(),
    }
}

pub(super) fn arc_is_closed(sql: &Arc<dyn Sql>) -> bool {
    matches!(sql.query("SELECT 1", &[]), Err(SqlFault::Denied(_)))
}

/// Runs a statement by whichever door fits it.
pub(super) fn run(sql: &dyn Sql, text: &str) -> Result<RowSet, SqlFault> {
    match sql.query(text, &[]) {
        Err(SqlFault::Failed(message)) if message.contains("use execute") => {
            sql.execute(text, &[]).map(|_| RowSet::default())
        }
        other => other,
    }
}
