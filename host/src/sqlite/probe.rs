//! What a commit costs in a folder, and which SQLite makes it.
//!
//! Works on a database of its own, in a folder that is removed again. Called by the doctor.

use std::{path::Path, time::Duration};

use super::{error::SqliteError, open, writer::Writer};
use crate::words::stopwatch::{Stopwatch, median_and_longest};

/// How many commits are measured.
const COMMITS: usize = 31;

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub struct CommitTimes {
    /// The version of SQLite.
    pub version: &'static str,
    /// How many commits, each with a sync.
    pub commits: usize,
    /// The middle one.
    pub median: Duration,
    /// The longest one.
    pub longest: Duration,
}

/// Commits one changed row, some times over, as the databases of a workspace do it: in the write-ahead log, with a sync.
/// `folder` is empty and belongs to the caller.
///
/// # Errors
/// The folder cannot be written, or does not bear a write-ahead log; the disk is full or fails.
pub fn commit_times(folder: &Path) -> Result<CommitTimes, SqliteError> {
    let path = folder.join("doctor.sqlite");
    let of = |error| SqliteError::of(&path, error);
    let connection = open::read_write(&path, open::BUSY, |_| Ok(()))?;
    connection
        .execute_batch("CREATE TABLE pulse (beats INTEGER); INSERT INTO pulse VALUES (0);")
        .map_err(of)?;
    let mut times = Vec::with_capacity(COMMITS);
    let again = path.clone();
    let writer = Writer::new(&path, connection, move || {
        open::read_write(&again, open::BUSY, |_| Ok(()))
    });
    for _ in 0..COMMITS {
        let watch = Stopwatch::start();
        let transaction = writer.begin()?;
        transaction
            .connection()
            .execute("UPDATE pulse SET beats = beats + 1", ())
            .map_err(of)?;
        transaction.commit()?;
        times.push(watch.elapsed());
    }
    let (median, longest) = median_and_longest(times).unwrap_or_default();
    Ok(CommitTimes {
        version: rusqlite::version(),
        commits: COMMITS,
        median,
        longest,
    })
}
