//! The benchmark behind `cargo xtask bench`: tasks of the reference domain, one and many at once, beside native floors that
//! commit as often. It measures and prints; it asserts nothing but that all contenders did the same work.
//!
//! What is measured, and how to read it: `docs/performance.md`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a measuring program for the terminal: it reads arguments, takes the time, opens plain databases and prints"
)]

mod options;
mod report;
mod aims;
mod table;

mod measurement;
mod process;
mod contender;
mod lanes;

mod host;

mod files;
mod floor;
mod database;
mod shared_commits;
mod recording;

mod cold;
mod counts;
mod recovery;
mod growth;
mod program;

mod bare;
mod confinement;
mod memories;
mod sandbox;
mod scaling;

mod scenario;
mod statistics;
mod syncs;
mod usage;

use std::{
    fmt::Display,
    fs::{self, File},
    io::Write as _,
    path::Path,
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context as _, Result};
use serde::Serialize;
use tempfile::TempDir;

use crate::{
    aims::Verdict,
    contender::Setup,
    options::{Only, Options},
    report::Report,
    scenario::Scenario,
    statistics::Spread,
};

/// That of `wharf`, for all contenders.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many orders are interrupted at once, in one measurement each.
const INTERRUPTED: [u32; 2] = [1, 8];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    if let [command, what] = words.as_slice() {
        match command.as_str() {
            "contend" => {
                let (name, setup) = serde_json::from_str(what)?;
                return process::serve(name, &setup);
            }
            "interrupt" => return recovery::interrupt(&serde_json::from_str(what)?),
            "check" => return scaling::check(serde_json::from_str(what)?),
            "recover" => return recovery::recover(&serde_json::from_str(what)?),
            _ => (),
        }
    }
    let options = Options::read(&words)?;
    let folder = folder(&options)?;
    let folder = folder.path();
    let rounds = options.rounds;
    match &options.only {
        None => show(&measure(&options, folder)?, &options),
        Some(Only::Sql) => show(&confinement::measure(folder, rounds)?, &options),
        Some(Only::Calls) => {
            let found = sandbox::measure(&options.component, folder, rounds)?;
            show(&found, &options)
        }
        Some(Only::Memory) => show(&memories::measure(folder, rounds)?, &options),
        Some(Only::Counts { accept }) => {
            let counts = counts::measure(&options.component, folder, *accept)?;
            show(&counts, &options)?;
            counts.check()
        }
        Some(Only::Growth(marks)) => show(&growth::measure(marks, &options, folder)?, &options),
    }
}

/// Prints it, and writes it where the caller asked for that.
fn show(report: &(impl Display + Serialize), options: &Options) -> Result<()> {
    print!("{report}");
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(report)?)
            .with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn folder(options: &Options) -> Result<TempDir> {
    fs::create_dir_all(&options.dir)?;
    Ok(tempfile::tempdir_in(fs::canonicalize(&options.dir)?)?)
}

fn measure(options: &Options, folder: &Path) -> Result<Report> {
    let setup = |scenario, lanes| Setup {
        scenario,
        lanes,
        component: options.component.clone(),
        folder: folder.to_owned(),
    };
    let mut tables = Vec::new();
    for scenario in Scenario::ALL {
        let lanes = options.concurrency.iter().copied();
        let setups: Vec<_> = lanes
            .filter(|lanes| scenario.runs_at(*lanes))
            .map(|lanes| setup(scenario, lanes))
            .collect();
        setups.first().map_or(Ok(()), measurement::record)?;
        for setup in &setups {
            tables.push(measurement::measure(setup, options)?);
        }
    }
    let recoveries: Vec<_> = INTERRUPTED
        .into_iter()
        .map(|orders| recovery::measure(&setup(Scenario::Stable, orders), options.starts))
        .collect::<Result<_>>()?;
    let cold_start_millis = Spread::of(&cold::measure(&options.component, folder, options.starts)?);
    let mut aims = Verdict::of_tables(&tables);
    aims.push(Verdict::of_cold_start(cold_start_millis));
    aims.extend(recoveries.iter().map(Verdict::of_recovery));
    Ok(Report {
        cpus: std::thread::available_parallelism()?.get(),
        rounds: options.rounds,
        starts: options.starts,
        sync_micros: Spread::of(&sync_micros(folder)?),
        tables,
        cold_start_millis,
        recoveries,
        aims,
        confinement: confinement::measure(folder, options.rounds)?,
    })
}

/// What the disk takes to make 4 KiB more of a file durable: whoever compares two machines needs it.
fn sync_micros(folder: &Path) -> Result<Vec<f64>> {
    let mut file = File::create(folder.join("sync"))?;
    let page = [1; 4096];
    (0..200)
        .map(|_| {
            file.write_all(&page)?;
            let begun = Instant::now();
            file.sync_all()?;
            Ok(begun.elapsed().as_secs_f64() * 1e6)
        })
        .collect()
}
