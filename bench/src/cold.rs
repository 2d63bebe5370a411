//! Cold start: `wharf demo` from the start of its process to its end, in a new workspace, with a compile cache that holds
//! the plugin.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};

/// Milliseconds, run by run. A first run, which may have to compile, is left out.
pub(crate) fn measure(component: &Path, folder: &Path, runs: u32) -> Result<Vec<f64>> {
    let program = std::env::current_exe()?.with_file_name("wharf");
    let workspace = folder.join("cold");
    let mut millis = Vec::new();
    for run in 0..=runs {
        let mut wharf = Command::new(&program);
        wharf.arg("demo").arg("--plugin").arg(component);
        wharf.arg("--dir").arg(&workspace);
        // Neither a cache nor a configuration of the user.
        wharf.env("XDG_CACHE_HOME", folder.join("cache"));
        wharf.env("XDG_CONFIG_HOME", folder.join("config"));
        wharf.stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let status = wharf
            .status()
            .with_context(|| format!("{} does not start", program.display()))?;
        let taken = begun.elapsed().as_secs_f64() * 1e3;
        ensure!(status.success(), "`wharf demo` ended with {status}");
        if run > 0 {
            millis.push(taken);
        }
        fs::remove_dir_all(&workspace)?;
    }
    Ok(millis)
}
