//! One sync for the commits of several threads, as one writes it by hand for one program.
//!
//! A commit at `synchronous=NORMAL` stands in the write-ahead log, but is not synced. Who has committed takes a number and waits
//! until the log was synced after that: the first syncs for all numbers given out, the others wait for him or sync next.

use std::{
    fs::File,
    path::Path,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context as _, Result, bail};

/// The log of one database that stays open.
pub(crate) struct SharedCommits {
    log: File,
    state: Mutex<State>,
    synced: Condvar,
}

#[derive(Default)]
struct State {
    given: u64,
    durable: u64,
    syncing: bool,
    /// After a failed sync nobody knows what is durable.
    failed: bool,
}

impl SharedCommits {
    /// Of a database that was opened and has its log.
    pub(crate) fn of(database: &Path) -> Result<Self> {
        let log = database.with_extension("sqlite-wal");
        let folder = log.parent().context("a database lies in a folder")?;
        File::open(folder)?.sync_all()?;
        Ok(Self {
            log: File::options().write(true).open(&log)?,
            state: Mutex::default(),
            synced: Condvar::new(),
        })
    }

    /// The number of a commit; to be taken right after it, before another thread gets the connection.
    pub(crate) fn number(&self) -> u64 {
        let mut state = self.state();
        state.given += 1;
        state.given
    }

    /// Returns when the commit of that number is durable.
    pub(crate) fn wait(&self, number: u64) -> Result<()> {
        let mut state = self.state();
        while state.durable < number {
            if state.failed {
                bail!("the log could not be synced");
            }
            if state.syncing {
                let woken = self.synced.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.syncing = true;
            let all = state.given;
            drop(state);
            let synced = self.log.sync_data();
            state = self.state();
            state.syncing = false;
            state.failed = synced.is_err();
            self.synced.notify_all();
            synced?;
            state.durable = all;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
