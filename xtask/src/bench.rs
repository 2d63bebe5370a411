//! `cargo xtask bench ARGS`: what a task costs, beside a native program that commits as often.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::prerequisites::GUEST_STD;
use crate::workspace::{ROOT, root};
use crate::{guests, host, process};

/// Builds the host and the plugins, then becomes the measuring program, in the caller's folder. What it
/// writes goes to `target/bench` unless it is told otherwise, and is removed again.
pub(crate) fn run(arguments: &[&str]) -> Result<ExitCode> {
    GUEST_STD.ensure()?;
    process::run(&mut host::build())?;
    guests::build_plugins()?;

    let target = root().join(ROOT.target_dir);
    let mut bench = Command::new(host::program("wharf-bench"));
    bench.args([target.join("plugins"), target.join("bench")]);
    bench.args(arguments.strip_prefix(&["--"]).unwrap_or(arguments));
    Err(bench.exec()).with_context(|| process::not_started(&bench))
}
