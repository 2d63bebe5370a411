//! `cargo xtask bench` and `cargo xtask tau2`: programs of their own that run tasks and measure them.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::prerequisites::GUEST_STD;
use crate::workspace::{ROOT, root};
use crate::{guests, host, process};

/// Builds the host and the plugins, then becomes the program `wharf-NAME`, in the caller's folder. What
/// it writes goes to `target/NAME` unless it is told otherwise, and is removed again.
pub(crate) fn run(name: &str, arguments: &[&str]) -> Result<ExitCode> {
    GUEST_STD.ensure()?;
    process::run(&mut host::build())?;
    guests::build_plugins()?;

    let target = root().join(ROOT.target_dir);
    let mut program = Command::new(host::program(&format!("wharf-{name}")));
    program.args([target.join("plugins"), target.join(name)]);
    program.args(arguments.strip_prefix(&["--"]).unwrap_or(arguments));
    Err(program.exec()).with_context(|| process::not_started(&program))
}
