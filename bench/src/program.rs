//! The program `wharf` as a user starts it, each time in a process of its own.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};

/// Milliseconds from the start of `wharf` with these arguments to its end, which has to be a good one. In `folder` it has
/// its cache.
pub(crate) fn time(arguments: &[&str], folder: &Path) -> Result<f64> {
    let program = std::env::current_exe()?.with_file_name("wharf");
    let mut wharf = Command::new(&program);
    wharf.args(arguments);
    // Neither a cache nor a configuration of the user.
    wharf.env("XDG_CACHE_HOME", folder.join("cache"));
    wharf.env("XDG_CONFIG_HOME", folder.join("config"));
    wharf.stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = wharf
        .status()
        .with_context(|| format!("{} does not start", program.display()))?;
    let taken = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(
        status.success(),
        "`wharf {}` ended with {status}",
        arguments.join(" ")
    );
    Ok(taken)
}

/// A path as an argument.
pub(crate) fn argument(path: &Path) -> Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not UTF-8", path.display()))
}
