//! Cold start: `wharf demo` from the start of its process to its end, in a new workspace, with a compile cache that holds
//! the plugin.

use std::{fs, path::Path};

use anyhow::Result;

use crate::program::{self, argument};

/// Milliseconds, run by run. A first run, which may have to compile, is left out.
pub(crate) fn measure(component: &Path, folder: &Path, runs: u32) -> Result<Vec<f64>> {
    eprintln!("measuring cold starts ...");
    let workspace = folder.join("cold");
    let (plugin, dir) = (argument(component)?, argument(&workspace)?);
    let demo = || -> Result<f64> {
        let taken = program::time(&["demo", "--plugin", plugin, "--dir", dir], folder)?;
        fs::remove_dir_all(&workspace)?;
        Ok(taken)
    };
    demo()?;
    (0..runs).map(|_| demo()).collect()
}
