//! The benchmark behind `cargo xtask bench`: tasks of the reference domain at concurrency 1, beside native floors that
//! commit as often. It measures and prints; it asserts nothing but that all contenders did the same work.
//!
//! What is measured, and how to read it: `docs/performance.md`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a measuring program for the terminal: it reads arguments, takes the time, opens plain databases and prints"
)]

mod cold;
mod confinement;
mod memories;
mod contender;
mod measurement;
mod options;
mod report;

mod host;

mod bare;
mod sandbox;

mod files;
mod floor;
mod recording;

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
    contender::Setup, measurement::Spread, options::Options, report::Report, scenario::Scenario,
};

/// That of `wharf`, for all contenders.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    match words.as_slice() {
        [command, what] if command == "contend" => {
            let (name, setup) = serde_json::from_str(what)?;
            contender::serve(name, &setup)
        }
        typed => {
            let options = Options::read(typed)?;
            if options.sql {
                let folder = folder(&options)?;
                let costs = confinement::measure(folder.path(), options.rounds)?;
                return show(&costs, &options);
            }
            if options.calls {
                let folder = folder(&options)?;
                let found = sandbox::measure(&options.component, folder.path(), options.rounds)?;
                return show(&found, &options);
            }
            if options.memory {
                let folder = folder(&options)?;
                let found = memories::measure(folder.path(), options.rounds)?;
                return show(&found, &options);
            }
            show(&measure(&options)?, &options)
        }
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

fn measure(options: &Options) -> Result<Report> {
    let folder = folder(options)?;
    let setup = |scenario: Scenario| Setup {
        scenario,
        component: options.component.clone(),
        folder: folder.path().join(scenario.name()),
    };
    let tables = Scenario::ALL
        .map(|scenario| measurement::measure(&setup(scenario), options))
        .into_iter()
        .collect::<Result<_>>()?;
    let cold = cold::measure(&options.component, folder.path(), options.starts)?;
    Ok(Report {
        cpus: std::thread::available_parallelism()?.get(),
        rounds: options.rounds,
        tasks_per_round: options.tasks,
        sync_micros: Spread::of(&sync_micros(folder.path())?),
        tables,
        cold_start_millis: Spread::of(&cold),
        confinement: confinement::measure(folder.path(), options.rounds)?,
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
