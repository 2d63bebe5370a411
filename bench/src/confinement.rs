//! What confinement costs a statement: a plugin's statements in its call, beside the same by bare rusqlite.
//!
//! Both run inside an open transaction of a database of their own, with prepared statements kept, in short turns; only the
//! statements are timed, and afterwards all is rolled back. The plugin's code and its sandbox are left out: what is
//! measured begins where a statement has left it.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    hint::black_box,
    path::Path,
    time::Instant,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use jiff::Timestamp;
use rusqlite::{Connection, config::DbConfig, params_from_iter, types::Value};
use serde::Serialize;
use wharf::{
    business::{BusinessStore, SqlLimits},
    core::{
        contract::{Effect, Migration, OperationKey, StepAnswer, Subject},
        ports::{
            business::{Business as _, Operation, Performed, Sql, SqlValue},
            journal::Position,
        },
    },
    words::{digest::Digest, json::JsonText},
};

use crate::statistics::{Spread, median};

const TABLE: &str = "CREATE TABLE stock (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n INTEGER NOT NULL, note TEXT) STRICT";
const FILL: &str = "INSERT INTO stock (name, n, note) WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 10000)
    SELECT 'item-' || i, i, 'some note of ordinary length' FROM r";
/// Rows of the table.
const ROWS: i64 = 10_000;
/// Of each kind in a batch: few enough that most batches run without being interrupted.
const STATEMENTS: i64 = 50;
/// Batches of each contender in a round.
const BATCHES: i64 = 40;

/// One kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The bare program looks at the row where SQLite has it.
    PointQuery,
    /// The bare program, too, hands on names and rows of its own.
    PointQueryHandedOn,
    Update,
    Upsert,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::PointQuery,
        Self::PointQueryHandedOn,
        Self::Update,
        Self::Upsert,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::PointQuery => "point query",
            Self::PointQueryHandedOn => "point query, rows handed on",
            Self::Update => "update by key",
            Self::Upsert => "upsert",
        }
    }

    const fn sql(self) -> &'static str {
        match self {
            Self::PointQuery | Self::PointQueryHandedOn => {
                "SELECT n, note FROM stock WHERE name = ?1"
            }
            Self::Update => "UPDATE stock SET n = n + ?2 WHERE name = ?1",
            Self::Upsert => {
                "INSERT INTO stock (name, n) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n"
            }
        }
    }

    fn parameters(self, number: i64) -> Vec<SqlValue> {
        // Every key once before any twice, and neighbours far apart.
        let key = SqlValue::Text(format!("item-{}", number * 7919 % ROWS + 1));
        match self {
            Self::PointQuery | Self::PointQueryHandedOn => vec![key],
            Self::Update | Self::Upsert => vec![key, SqlValue::Integer(1)],
        }
    }
}

/// One kind of statement, in microseconds each.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cost {
    kind: &'static str,
    bare_micros: Spread,
    confined_micros: Spread,
    /// Of each round.
    to_bare: Spread,
}

/// All kinds.
#[derive(Debug, Serialize)]
pub(crate) struct Costs {
    rounds: u32,
    batches: i64,
    statements: i64,
    costs: Vec<Cost>,
}

/// Measures in a new folder inside `folder`.
pub(crate) fn measure(folder: &Path, rounds: u32) -> Result<Costs> {
    eprintln!("measuring the confinement of SQL ...");
    let folder = folder.join("confinement");
    fs::create_dir_all(&folder)?;
    let bare = bare(&folder.join("bare.sqlite"))?;
    let store = confined(&folder.join("business.sqlite"))?;
    let costs = Kind::ALL
        .into_iter()
        .map(|kind| cost(kind, rounds, &bare, &store))
        .collect::<Result<_>>()?;
    Ok(Costs {
        rounds,
        batches: BATCHES,
        statements: STATEMENTS,
        costs,
    })
}

fn cost(kind: Kind, rounds: u32, bare: &Connection, store: &BusinessStore) -> Result<Cost> {
    let (mut of_bare, mut of_confined) = (Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let (bare, confined) = side_by_side(kind, bare, store)?;
        if round > 0 {
            of_bare.push(bare);
            of_confined.push(confined);
        }
    }
    let ratios: Vec<f64> = of_confined
        .iter()
        .zip(&of_bare)
        .map(|(confined, bare)| confined / bare)
        .collect();
    Ok(Cost {
        kind: kind.name(),
        bare_micros: Spread::of(&of_bare),
        confined_micros: Spread::of(&of_confined),
        to_bare: Spread::of(&ratios),
    })
}

/// One round: both transactions are open, and batches take turns. Yields the median of each one's batches, in microseconds of
/// one statement.
fn side_by_side(kind: Kind, bare: &Connection, store: &BusinessStore) -> Result<(f64, f64)> {
    let mut measured = None;
    bare.execute_batch("BEGIN IMMEDIATE")?;
    let performed = store.perform(&operation()?, &mut |sql| {
        let batches = (0..BATCHES).map(|batch| {
            let first = batch * STATEMENTS;
            // Whoever ran first runs last.
            if batch % 2 == 0 {
                let bare = bare_batch(kind, bare, first)?;
                Ok((bare, confined_batch(kind, &*sql, first)?))
            } else {
                let confined = confined_batch(kind, &*sql, first)?;
                Ok((bare_batch(kind, bare, first)?, confined))
            }
        });
        measured = Some(batches.collect::<Result<Vec<_>>>());
        Ok(Ok(StepAnswer::Declined(JsonText::of(&"rolled back"))))
    })?;
    bare.execute_batch("ROLLBACK")?;
    ensure!(matches!(performed, Performed::Declined(_)), "{performed:?}");
    let (bare, confined): (Vec<_>, Vec<_>) = measured
        .context("the step was not called")??
        .into_iter()
        .unzip();
    Ok((median(&bare), median(&confined)))
}

fn bare(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(TABLE)?;
    connection.execute_batch(FILL)?;
    Ok(connection)
}

fn confined(path: &Path) -> Result<BusinessStore> {
    let at = Timestamp::UNIX_EPOCH;
    let store = BusinessStore::open(path, &"tenant".parse()?, SqlLimits::standard(), at)?;
    let plugin = "stock".parse()?;
    let migration = Migration {
        version: 1,
        sql: TABLE.to_owned(),
    };
    store.install(&plugin, &[migration], at)?;
    store.seed(&plugin, FILL, at)?;
    Ok(store)
}

/// Microseconds of one statement.
fn bare_batch(kind: Kind, connection: &Connection, first: i64) -> Result<f64> {
    let values = |number| {
        let values = kind
            .parameters(number)
            .into_iter()
            .map(|value| match value {
                SqlValue::Integer(value) => Value::Integer(value),
                SqlValue::Text(text) => Value::Text(text),
                _ => Value::Null,
            });
        values.collect::<Vec<_>>()
    };
    timed(first, values, |values| {
        let mut statement = connection.prepare_cached(kind.sql())?;
        let values = params_from_iter(values);
        match kind {
            Kind::PointQuery => {
                let mut rows = statement.query(values)?;
                while let Some(row) = rows.next()? {
                    black_box((row.get_ref(0)?, row.get_ref(1)?));
                }
            }
            Kind::PointQueryHandedOn => {
                let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
                let rows = statement.query_map(values, |row| {
                    (0..names.len()).map(|index| row.get(index)).collect()
                })?;
                let rows: Vec<Vec<Value>> = rows.collect::<Result<_, _>>()?;
                black_box((names, rows));
            }
            Kind::Update | Kind::Upsert => {
                ensure!(statement.execute(values)? == 1, "no row was changed");
            }
        }
        Ok(())
    })
}

/// Microseconds of one statement.
fn confined_batch(kind: Kind, sql: &dyn Sql, first: i64) -> Result<f64> {
    let fault = |fault| anyhow!("{fault:?}");
    timed(
        first,
        |number| kind.parameters(number),
        |values| {
            if matches!(kind, Kind::PointQuery | Kind::PointQueryHandedOn) {
                black_box(sql.query(kind.sql(), &values).map_err(fault)?);
            } else {
                let changed = sql.execute(kind.sql(), &values).map_err(fault)?;
                ensure!(changed == 1, "no row was changed");
            }
            Ok(())
        },
    )
}

/// Makes each statement's values before the clock starts, and times the statements.
fn timed<V>(first: i64, values: impl Fn(i64) -> V, run: impl Fn(V) -> Result<()>) -> Result<f64> {
    let all: Vec<V> = (first..first + STATEMENTS).map(values).collect();
    let begun = Instant::now();
    for values in all {
        run(values)?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / STATEMENTS as f64)
}

fn operation() -> Result<Operation> {
    Ok(Operation {
        plugin: "stock".parse()?,
        subject: Subject::new("subject".to_owned()).context("a subject may be this short")?,
        key: OperationKey::new("key".to_owned()).context("a key may be this short")?,
        task: "task".parse()?,
        principal: "someone".parse()?,
        fingerprint: Digest::of("task"),
        input_digest: Digest::of("input"),
        tool: "tool".to_owned(),
        arguments_digest: Digest::of("null"),
        effect: Effect::Write,
        position: Position {
            sequence: 1,
            head: Digest::of("head"),
        },
        at: Timestamp::UNIX_EPOCH,
    })
}

impl Display for Costs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            rounds,
            batches,
            statements,
            ..
        } = self;
        writeln!(
            f,
            "confinement of SQL, {rounds} rounds of {batches} batches of {statements} statements inside a transaction; medians, in \
             brackets the quartiles of the rounds\n"
        )?;
        writeln!(
            f,
            "|                             | bare us | confined us |        confined to bare |"
        )?;
        writeln!(
            f,
            "|----------------------------:|--------:|------------:|------------------------:|"
        )?;
        for cost in &self.costs {
            let Spread { low, median, high } = cost.to_bare;
            let ratio = format!("{median:.3} ({low:.3} to {high:.3})");
            writeln!(
                f,
                "| {:>27} | {:>7.2} | {:>11.2} | {ratio:>23} |",
                cost.kind, cost.bare_micros.median, cost.confined_micros.median
            )?;
        }
        writeln!(
            f,
            "|                         aim |         |             | {:>23} |",
            "at most 1.10"
        )
    }
}
