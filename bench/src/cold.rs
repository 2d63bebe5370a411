//! Cold start: from the start of a process to the end of one whose first task is finished, in a new workspace, with a
//! compile cache that holds the plugin.

use std::{fs, process::Command, time::Instant};

use anyhow::{Result, ensure};

use crate::{
    contender::{Contender as _, Setup},
    host::Embedded,
};

/// Milliseconds, run by run. The first run, which may have to compile, is left out.
pub(crate) fn measure(setup: &Setup, runs: u32) -> Result<Vec<f64>> {
    let mut millis = Vec::new();
    for run in 0..=runs {
        let begun = Instant::now();
        let status = Command::new(std::env::current_exe()?)
            .args(["first-task", &serde_json::to_string(setup)?])
            .status()?;
        let taken = begun.elapsed().as_secs_f64() * 1e3;
        ensure!(status.success(), "a first task ended with {status}");
        if run > 0 {
            millis.push(taken);
        }
        fs::remove_dir_all(setup.folder.join("cold"))?;
    }
    Ok(millis)
}

/// The process that is measured.
pub(crate) fn first_task(setup: &Setup) -> Result<()> {
    let mut host = Embedded::open(setup, &setup.folder.join("cold"))?;
    let order = host.prepare(0)?;
    host.run(order)
}
