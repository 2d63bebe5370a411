//! What it costs to make something durable in a folder.
//!
//! Writes to a file without a name, which is gone when it is closed. Called by the doctor.

use std::{
    fs::File,
    io::{Seek as _, Write as _},
    path::Path,
    time::Duration,
};

use super::file_error::{Action, FileError};
use crate::words::stopwatch::{Stopwatch, median_and_longest};

/// How many syncs are measured.
const SYNCS: usize = 31;

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub struct SyncTimes {
    /// How many syncs.
    pub syncs: usize,
    /// The middle one.
    pub median: Duration,
    /// The longest one.
    pub longest: Duration,
}

/// Writes 4 KiB and syncs them, some times over.
///
/// # Errors
/// The folder is missing or cannot be written; the disk is full or fails.
pub fn sync_times(folder: &Path) -> Result<SyncTimes, FileError> {
    let failed = |action| move |source| FileError::new(folder, action, source);
    let mut file = tempfile::tempfile_in(folder).map_err(failed(Action::Create))?;
    let mut times = Vec::with_capacity(SYNCS);
    for number in 0..SYNCS {
        let page = [u8::try_from(number).unwrap_or(0); 4096];
        write(&mut file, &page).map_err(failed(Action::Write))?;
        let watch = Stopwatch::start();
        file.sync_all().map_err(failed(Action::Sync))?;
        times.push(watch.elapsed());
    }
    let (median, longest) = median_and_longest(times).unwrap_or_default();
    Ok(SyncTimes {
        syncs: SYNCS,
        median,
        longest,
    })
}

/// Over what stands there: the log of a database grows rarely.
fn write(file: &mut File, page: &[u8]) -> std::io::Result<()> {
    file.rewind()?;
    file.write_all(page)
}
