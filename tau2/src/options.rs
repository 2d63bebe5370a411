//! What the program is told on its command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Runs the 114 tasks of tau2-bench retail through the host and compares their end states with the published ones.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask tau2", bin_name = "cargo xtask tau2")]
#[command(after_help = crate::benchmark::HOW_TO_OBTAIN)]
pub(crate) struct Options {
    /// The folder of the components.
    #[arg(hide = true)]
    pub(crate) plugins: PathBuf,
    /// The folder for what is written.
    #[arg(hide = true)]
    pub(crate) scratch: PathBuf,
    /// The folder with the benchmark's data: db.json, tasks.json, gold.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Runs each task once more, killed before and after the commit of each write step, and resumed.
    #[arg(long)]
    pub(crate) kill: bool,
    /// How the result is printed.
    #[arg(long, default_value = "text")]
    pub(crate) format: Format,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}
