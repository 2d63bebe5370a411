//! Interleaved rounds: whatever disturbs the machine disturbs every contender.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Result, ensure};
use rusqlite::Connection;
use serde::Serialize;

use crate::{
    contender::{Name, Setup},
    host::Embedded,
    options::Options,
    process::{self, Batch, Closing, Contending},
    recording::Recording,
    scenario::{Names, Scenario},
    statistics::{Spread, median, quantile},
    syncs::Syncs,
};

/// What one contender took in one scenario at one concurrency.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Measured {
    pub(crate) name: Name,
    /// Orders per second, the median of the rounds.
    pub(crate) tasks_per_second: f64,
    /// Time of a round over the first floor's time of the same round.
    pub(crate) to_floor: Spread,
    /// Over that of the floor with shared commits.
    pub(crate) to_shared_commits: Spread,
    /// Over that of the floor with files.
    pub(crate) to_floor_and_files: Spread,
    /// Of all orders, each from when a lane took it.
    pub(crate) p50_millis: f64,
    pub(crate) p99_millis: f64,
    /// The median of the rounds.
    pub(crate) cpu_millis: f64,
    pub(crate) syncs: Option<SyncsPerTask>,
    pub(crate) peak_memory_bytes: Option<u64>,
    pub(crate) bytes_per_task: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncsPerTask {
    /// Of the databases' logs: durable commits, and the checkpoints' share.
    pub(crate) logs: f64,
    /// Of the database files, by checkpoints.
    pub(crate) databases: f64,
    pub(crate) files: f64,
    /// The time that those of logs and databases take.
    pub(crate) database_millis: f64,
    pub(crate) file_millis: f64,
}

/// One scenario at one concurrency.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Table {
    pub(crate) scenario: Scenario,
    pub(crate) concurrency: u32,
    pub(crate) tasks_per_round: u32,
    pub(crate) rows: Vec<Measured>,
}

impl Table {
    /// The row of a contender that took part.
    pub(crate) fn of(&self, name: Name) -> Option<&Measured> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// Runs all contenders in turn, round by round. The scenario was recorded.
pub(crate) fn measure(setup: &Setup, options: &Options) -> Result<Table> {
    let Setup {
        scenario, lanes, ..
    } = *setup;
    eprintln!("measuring {} at {lanes} ...", scenario.name());
    // So many that all lanes are busy for most of the time.
    let tasks = options.tasks.max(lanes * 4);
    let mut contenders = Name::ALL
        .map(|name| Contending::start(name, setup).map(|contending| (name, contending)))
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let mut batches: BTreeMap<Name, Vec<Batch>> = BTreeMap::new();
    // The first round warms up.
    for round in 0..=options.rounds {
        for (name, contender) in &mut contenders {
            let batch = contender.batch(tasks)?;
            if round > 0 {
                batches.entry(*name).or_default().push(batch);
            }
        }
        // Whoever ran first runs last.
        contenders.rotate_left(1);
    }
    let closings: BTreeMap<Name, Closing> = contenders
        .into_iter()
        .map(|(name, contender)| Ok((name, contender.close()?)))
        .collect::<Result<_>>()?;
    check_alike(setup)?;
    let floors = [Name::Floor, Name::FloorSharedCommits, Name::FloorAndFiles]
        .map(|name| batches[&name].as_slice());
    Ok(Table {
        scenario,
        concurrency: lanes,
        tasks_per_round: tasks,
        rows: Name::ALL
            .map(|name| measured(name, &batches[&name], floors, closings[&name]))
            .into(),
    })
}

/// One order through the host, in a workspace of its own, for the floors to go by.
pub(crate) fn record(setup: &Setup) -> Result<()> {
    fs::create_dir_all(setup.scenario_folder())?;
    setup.scenario.write_script(&setup.script())?;
    let workspace = setup.scenario_folder().join("recording");
    process::batch(&Embedded::open(setup, &workspace)?, 0..1, 1)?;
    let recording = Recording::read(&workspace, Names::of(0))?;
    Ok(fs::write(
        setup.recording(),
        serde_json::to_string(&recording)?,
    )?)
}

fn measured(name: Name, batches: &[Batch], floors: [&[Batch]; 3], closing: Closing) -> Measured {
    let per_batch = |value: &dyn Fn(&Batch) -> f64| batches.iter().map(value).collect::<Vec<_>>();
    let each: Vec<f64> = batches
        .iter()
        .flat_map(|batch| batch.micros.iter().copied())
        .collect();
    let [to_floor, to_shared_commits, to_floor_and_files] = floors.map(|floor| {
        let rounds = batches.iter().zip(floor);
        let ratios: Vec<f64> = rounds
            .map(|(batch, floor)| batch.wall_micros / floor.wall_micros)
            .collect();
        Spread::of(&ratios)
    });
    Measured {
        name,
        tasks_per_second: median(&per_batch(&|batch| {
            batch.micros.len() as f64 * 1e6 / batch.wall_micros
        })),
        to_floor,
        to_shared_commits,
        to_floor_and_files,
        p50_millis: median(&each) / 1e3,
        p99_millis: quantile(&each, 0.99) / 1e3,
        cpu_millis: median(&per_batch(&|batch| {
            batch.cpu_micros / batch.micros.len() as f64
        })) / 1e3,
        syncs: syncs(batches, each.len() as f64),
        peak_memory_bytes: closing.peak_memory,
        bytes_per_task: closing.bytes_per_task,
    }
}

fn syncs(batches: &[Batch], tasks: f64) -> Option<SyncsPerTask> {
    let all: Vec<Syncs> = batches
        .iter()
        .map(|batch| batch.syncs)
        .collect::<Option<_>>()?;
    let mean = |count: fn(&Syncs) -> u64| all.iter().map(count).sum::<u64>() as f64 / tasks;
    Some(SyncsPerTask {
        logs: mean(|syncs| syncs.logs),
        databases: mean(|syncs| syncs.databases),
        files: mean(|syncs| syncs.files),
        database_millis: mean(|syncs| syncs.database_micros) / 1e3,
        file_millis: mean(|syncs| syncs.file_micros) / 1e3,
    })
}

/// The floors have left the rows that the host left.
fn check_alike(setup: &Setup) -> Result<()> {
    let host = rows(&setup.workspace(Name::Host))?;
    for floor in Name::ALL {
        let floor = rows(&setup.workspace(floor))?;
        ensure!(
            host == floor,
            "the contenders have not done the same: the host left {host:?} rows, a floor {floor:?}"
        );
    }
    Ok(())
}

fn rows(workspace: &Path) -> Result<Vec<(&'static str, i64)>> {
    let tables = [
        ("memory.sqlite", "journal"),
        ("business.sqlite", "wharf_ledger"),
        ("business.sqlite", "wharf_anchors"),
        ("business.sqlite", "orders"),
    ];
    tables
        .into_iter()
        .map(|(database, table)| {
            let database = Connection::open(workspace.join(database))?;
            let sql = format!("SELECT count(*) FROM {table}");
            Ok((table, database.query_row(&sql, (), |row| row.get(0))?))
        })
        .collect()
}
