//! The program behind `cargo xtask tau2`: every task of tau2-bench retail as one scripted plan, run by the host on the
//! plugin `retail`, and compared with the benchmark's published end state.
//!
//! Each run of a task is a process of its own, so that one can be killed as a machine would do it; see `kill.rs`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a measuring program for the terminal: it reads arguments, takes the time and prints"
)]

mod benchmark;
mod options;
mod summary;

mod killing;
mod trial;

mod calls;
mod child;
mod kill;

mod comparison;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;

use crate::{
    benchmark::Benchmark,
    child::Job,
    options::{Format, Options},
    summary::Summary,
    trial::Bench,
};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    if let Some(job) = Job::given() {
        child::serve(&job?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options::parse();
    let benchmark = Benchmark::read(&options.data)?;
    let bench = Bench::new(&options)?;
    let mut summary = Summary::default();
    for exercise in benchmark.exercises() {
        let found = bench.run(&exercise, options.kill, &mut summary);
        for fault in found.unwrap_or_else(|error| vec![format!("{error:#}")]) {
            eprintln!("task {}: {fault}", exercise.scenario.id);
            summary.faults += 1;
        }
    }
    match options.format {
        Format::Text => print!("{summary}"),
        Format::Json => println!("{}", serde_json::to_string(&summary)?),
    }
    Ok(if summary.faults == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
