//! Counts the syncs that this process really makes.
//!
//! The counters of the stores know their commits, but not the syncs of a checkpoint, and nobody counts those of files. So
//! the two functions through which both SQLite and the standard library sync are defined here, in front of the C
//! library's: each looks which file it is asked for, counts, and makes the same system call. Linux only.

use serde::{Deserialize, Serialize};

/// How many syncs were made, by what was synced.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Syncs {
    /// Write-ahead logs: one for each durable commit, one more for each checkpoint.
    pub(crate) logs: u64,
    /// Database files, by checkpoints.
    pub(crate) databases: u64,
    /// All other files and folders.
    pub(crate) files: u64,
    /// How long those of logs and databases took.
    pub(crate) database_micros: u64,
    /// How long those of files and folders took.
    pub(crate) file_micros: u64,
}

impl Syncs {
    /// Those made so far. None: this system has no way to count.
    pub(crate) fn so_far() -> Option<Self> {
        counted::so_far()
    }

    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            logs: self.logs - before.logs,
            databases: self.databases - before.databases,
            files: self.files - before.files,
            database_micros: self.database_micros - before.database_micros,
            file_micros: self.file_micros - before.file_micros,
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "a symbol of the C library is replaced, and its system call made in its place"
)]
mod counted {
    use std::{
        ffi::{c_int, c_long},
        fs,
        sync::atomic::{AtomicU64, Ordering::Relaxed},
        time::Instant,
    };

    use super::Syncs;

    static LOGS: AtomicU64 = AtomicU64::new(0);
    static DATABASES: AtomicU64 = AtomicU64::new(0);
    static FILES: AtomicU64 = AtomicU64::new(0);
    static DATABASE_MICROS: AtomicU64 = AtomicU64::new(0);
    static FILE_MICROS: AtomicU64 = AtomicU64::new(0);

    pub(super) fn so_far() -> Option<Syncs> {
        Some(Syncs {
            logs: LOGS.load(Relaxed),
            databases: DATABASES.load(Relaxed),
            files: FILES.load(Relaxed),
            database_micros: DATABASE_MICROS.load(Relaxed),
            file_micros: FILE_MICROS.load(Relaxed),
        })
    }

    #[unsafe(no_mangle)]
    extern "C" fn fsync(file: c_int) -> c_int {
        sync(libc::SYS_fsync, file)
    }

    #[unsafe(no_mangle)]
    extern "C" fn fdatasync(file: c_int) -> c_int {
        sync(libc::SYS_fdatasync, file)
    }

    fn sync(call: c_long, file: c_int) -> c_int {
        let path = fs::read_link(format!("/proc/self/fd/{file}")).unwrap_or_default();
        let (count, micros) = match path.extension().and_then(|extension| extension.to_str()) {
            Some("sqlite-wal" | "sqlite-journal") => (&LOGS, &DATABASE_MICROS),
            Some("sqlite") => (&DATABASES, &DATABASE_MICROS),
            _ => (&FILES, &FILE_MICROS),
        };
        count.fetch_add(1, Relaxed);
        let begun = Instant::now();
        // SAFETY: both calls take one file descriptor and touch no memory of this process; a wrong one is an error. What
        // is returned, -1 with `errno` or 0, is what the replaced functions return.
        let result = unsafe { libc::syscall(call, file) };
        let taken = u64::try_from(begun.elapsed().as_micros()).unwrap_or_default();
        micros.fetch_add(taken, Relaxed);
        if result == 0 { 0 } else { -1 }
    }
}

#[cfg(not(target_os = "linux"))]
mod counted {
    pub(super) const fn so_far() -> Option<super::Syncs> {
        None
    }
}
