//! One sync for the commits of several threads.
//!
//! A commit of Wharf is not synced by SQLite (`synchronous=NORMAL`): it is written to the write-ahead log and visible. Whoever
//! committed takes a ticket and waits until the log was synced after it. Leader and followers: the first who waits syncs the
//! log himself, at once, for all tickets given out so far; who comes while a sync runs waits for it and then for one of the
//! next, which one of them makes for all of them. So a thread that is alone syncs its own commit without a hop to another
//! thread and without waiting for company, and no sync is made under the lock that the next transaction waits for.
//!
//! # Why a sync of the log is enough
//!
//! A commit's frames stand in the log, or a checkpoint has moved them into the database, which at `NORMAL` and above syncs the
//! log before and the database after. A sync covers a whole file, whoever wrote and whichever descriptor asks. SQLite
//! syncs the head of a log that begins anew by itself. The name of a new log is made durable with its folder.
//!
//! # A sync that failed
//!
//! The system reports a failed write once, and forgets it: the next sync may succeed without the bytes. So after a failure nothing
//! more is called durable by this process; it has to be started again.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::error::SqliteError;

/// The log of one database, and how far it is durable.
pub(super) struct SharedSync {
    database: PathBuf,
    /// The last ticket given out.
    given: AtomicU64,
    progress: Mutex<Progress>,
    moved: Condvar,
    syncs: AtomicU64,
}

#[derive(Default)]
struct Progress {
    /// Tickets up to this one are durable.
    durable: u64,
    running: bool,
    failed: bool,
    /// None: not opened since the database was.
    log: Option<Arc<File>>,
    /// How often the database was opened again.
    reopened: u64,
}

/// Stands for all that was visible when it was given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

impl SharedSync {
    pub(super) fn new(database: &Path) -> Self {
        Self {
            database: database.to_owned(),
            given: AtomicU64::new(0),
            progress: Mutex::default(),
            moved: Condvar::new(),
            syncs: AtomicU64::new(0),
        }
    }

    /// A new ticket. To be taken before the write lock is released.
    pub(super) fn ticket(&self) -> Ticket {
        Ticket(self.given.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// The last ticket that was given out.
    pub(super) fn last(&self) -> Ticket {
        Ticket(self.given.load(Ordering::Acquire))
    }

    /// Waits until all that a ticket stands for is durable, and syncs for others too if nobody does.
    pub(super) fn reach(&self, Ticket(ticket): Ticket) -> Result<(), SqliteError> {
        let mut progress = self.lock();
        while progress.durable < ticket {
            self.refuse_after_failure(&progress)?;
            if progress.running {
                let woken = self.moved.wait(progress);
                progress = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            progress.running = true;
            // The ticket before the log: whoever opens the database again lets the log go before giving out another one.
            let Ticket(reached) = self.last();
            let (log, reopened) = (progress.log.clone(), progress.reopened);
            drop(progress);
            let opened = log.map_or_else(|| self.open(), Ok);
            let synced = opened.map(|log| log.sync_data().map(|()| log));
            progress = self.lock();
            progress.running = false;
            self.moved.notify_all();
            match synced {
                Ok(Ok(log)) => {
                    progress.durable = reached;
                    // Of a database that was opened again meanwhile it may be the old one.
                    if progress.reopened == reopened {
                        progress.log = Some(log);
                    }
                    self.syncs.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Err(failed)) => {
                    progress.failed = true;
                    return Err(self.error(failed));
                }
                // Nothing was tried: whoever waits tries again.
                Err(not_opened) => return Err(self.error(not_opened)),
            }
        }
        Ok(())
    }

    /// The database is opened again: its log may be another file.
    pub(super) fn reopened(&self) {
        let mut progress = self.lock();
        progress.log = None;
        progress.reopened += 1;
    }

    /// Refuses where a sync has failed.
    pub(super) fn check(&self) -> Result<(), SqliteError> {
        self.refuse_after_failure(&self.lock())
    }

    /// How many syncs were made.
    pub(super) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(super) fn log(&self) -> Option<Arc<File>> {
        self.lock().log.clone()
    }

    fn open(&self) -> io::Result<Arc<File>> {
        // SQLite puts the log beside the file itself, not beside a link to it.
        let mut path = self.database.canonicalize()?.into_os_string();
        path.push("-wal");
        let path = PathBuf::from(path);
        let log = File::options().read(true).write(true).open(&path)?;
        if let (true, Some(folder)) = (cfg!(unix), path.parent()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Arc::new(log))
    }

    fn refuse_after_failure(&self, progress: &Progress) -> Result<(), SqliteError> {
        if progress.failed {
            return Err(SqliteError::SyncFailedBefore {
                path: self.database.clone(),
            });
        }
        Ok(())
    }

    fn error(&self, source: io::Error) -> SqliteError {
        let path = self.database.clone();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                SqliteError::DiskFull { path }
            }
            _ => SqliteError::SyncFailed { path, source },
        }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, sync::Barrier, thread};

    use super::*;

    fn database(folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("a.sqlite");
        fs::write(&path, "").unwrap();
        fs::write(folder.path().join("a.sqlite-wal"), "").unwrap();
        path
    }

    #[test]
    fn what_is_durable_needs_no_further_sync() {
        let folder = tempfile::tempdir().unwrap();
        let sync = SharedSync::new(&database(&folder));
        let (first, second) = (sync.ticket(), sync.ticket());
        assert!(first < second);
        sync.reach(second).unwrap();
        sync.reach(first).unwrap();
        assert_eq!((sync.syncs(), sync.last()), (1, second));
        sync.reach(sync.ticket()).unwrap();
        assert_eq!(sync.syncs(), 2);
    }

    #[test]
    fn threads_that_wait_at_once_all_come_through_and_none_syncs_for_nothing() {
        const THREADS: usize = 16;
        const EACH: usize = 50;
        let folder = tempfile::tempdir().unwrap();
        let sync = SharedSync::new(&database(&folder));
        let all = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    all.wait();
                    for _ in 0..EACH {
                        let ticket = sync.ticket();
                        sync.reach(ticket).unwrap();
                        assert!(sync.lock().durable >= ticket.0);
                    }
                });
            }
        });
        assert!(sync.syncs() <= (THREADS * EACH) as u64);
        assert_eq!(sync.last(), Ticket((THREADS * EACH) as u64));
    }

    /// What was written may be lost without a trace: a second sync would succeed.
    #[test]
    fn after_a_failed_sync_nothing_is_called_durable_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let log = folder.path().join("a.sqlite-wal");
        let sync = SharedSync::new(&path);
        let before = sync.ticket();
        sync.reach(before).unwrap();
        fs::remove_file(&log).unwrap();
        // A device that is written to and cannot be synced.
        symlink("/dev/null", &log).unwrap();
        sync.reopened();
        let failed = sync.reach(sync.ticket()).unwrap_err();
        assert!(matches!(failed, SqliteError::SyncFailed { .. }), "{failed}");
        fs::remove_file(&log).unwrap();
        fs::write(&log, "").unwrap();
        sync.reopened();
        let after = [sync.reach(sync.ticket()), sync.check()];
        for refused in after {
            let refused = refused.unwrap_err();
            assert!(
                matches!(refused, SqliteError::SyncFailedBefore { .. }),
                "{refused}"
            );
        }
        sync.reach(before).unwrap();
    }

    /// A sync that is in flight while the database is opened again must not bring the old log back.
    #[test]
    fn a_log_that_was_let_go_during_its_sync_is_not_taken_up_again() {
        const BYTES: usize = 64 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let log = folder.path().join("a.sqlite-wal");
        let sync = SharedSync::new(&path);
        let met = (0..50).any(|_| {
            fs::write(&log, vec![1; BYTES]).unwrap();
            sync.reopened();
            let ticket = sync.ticket();
            let met = thread::scope(|scope| {
                let syncing = scope.spawn(|| sync.reach(ticket).unwrap());
                while !sync.lock().running && !syncing.is_finished() {
                    thread::yield_now();
                }
                fs::remove_file(&log).unwrap();
                fs::write(&log, "").unwrap();
                sync.reopened();
                let met = sync.lock().running;
                syncing.join().unwrap();
                met
            });
            assert!(!met || sync.log().is_none());
            met
        });
        assert!(met, "the sync was never in flight");
    }

    #[test]
    fn a_log_that_cannot_be_opened_is_an_error_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(&folder);
        let log = folder.path().join("a.sqlite-wal");
        let sync = SharedSync::new(&path);
        fs::remove_file(&log).unwrap();
        let ticket = sync.ticket();
        assert!(sync.reach(ticket).is_err());
        fs::write(&log, "").unwrap();
        sync.reach(ticket).unwrap();
    }
}
