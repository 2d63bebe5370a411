//! `cargo xtask demo ARGS`: from a fresh clone to a finished task in one command.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};

use crate::guests::{self, Guest};
use crate::prerequisites::GUEST_STD;
use crate::{host, process};

/// Builds the host and the plugins, then becomes `wharf demo ARGS`: in the caller's folder, with
/// the terminal, the signals and the exit code its own. All that is printed before goes to standard
/// error, so that `--format json` leaves one document on standard output.
pub(crate) fn run(arguments: &[&str]) -> Result<ExitCode> {
    prepare()?;
    let mut demo = demo(arguments);
    eprintln!("running  {}\n", process::line(&demo));
    Err(demo.exec()).with_context(|| process::not_started(&demo))
}

/// Builds all that a demo needs, and tells where it is.
pub(crate) fn prepare() -> Result<Vec<Guest>> {
    GUEST_STD.ensure()?;
    process::run(&mut host::build())?;
    let plugins = guests::build_plugins()?;
    let wharf = host::program("wharf");

    eprintln!("host     {}", wharf.display());
    for Guest { component, .. } in &plugins {
        eprintln!("plugin   {}", component.display());
        // Loading a component compiles it into the host's cache: this once takes the time, and the
        // demo does not.
        process::run(
            Command::new(&wharf)
                .args(["plugin", "inspect"])
                .arg(component)
                .stdout(Stdio::null()),
        )?;
    }
    Ok(plugins)
}

/// `wharf demo ARGS`, with or without a `--` before them.
pub(crate) fn demo(arguments: &[&str]) -> Command {
    let arguments = arguments.strip_prefix(&["--"]).unwrap_or(arguments);
    let mut demo = Command::new(host::program("wharf"));
    demo.arg("demo").args(arguments);
    demo
}
