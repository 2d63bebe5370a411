//! One runner owns a task.
//!
//! Owns the operating system's lock on `tasks/<id>/.lock`. The system releases it when its owner ends, however it ends;
//! the file stays, since removing it would let two runners lock two files. It never waits.
//! Called by whoever runs, resumes or audits a task.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{ErrorKind, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use super::file_error::{Action, FileError};
use crate::words::error::{Facts, Fault, Kind};

/// The name of the lock's file in a task's folder.
pub const LOCK_FILE: &str = ".lock";

/// Proof that this process owns a task, until it is dropped.
#[derive(Debug)]
pub struct TaskLock {
    folder: PathBuf,
    file: File,
}

impl TaskLock {
    /// Takes the lock of the task whose folder this is, at once or not at all, and leaves this process' id in its file.
    ///
    /// # Errors
    /// [`TaskLockError::Owned`] while another runner has it, in this process or another; [`FileError`] if the folder is
    /// missing or its file system has no locks.
    pub fn acquire(folder: &Path) -> Result<Self, TaskLockError> {
        let path = folder.join(LOCK_FILE);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| FileError::new(&path, Action::Lock, source))?;
        let mut file = locked(file, &path)?;
        // For the message of a second runner only; no run fails for it.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self {
            folder: folder.into(),
            file,
        })
    }

    /// Takes the lock without writing anything, for an audit; none: no runner ever was here, so there is no file to lock.
    ///
    /// # Errors
    /// As [`Self::acquire`].
    pub fn acquire_read_only(folder: &Path) -> Result<Option<Self>, TaskLockError> {
        let path = folder.join(LOCK_FILE);
        let file = match File::open(&path) {
            Err(source) if source.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|source| FileError::new(&path, Action::Lock, source))?,
        };
        Ok(Some(Self {
            folder: folder.into(),
            file: locked(file, &path)?,
        }))
    }

    /// The folder of the task that it owns.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for TaskLock {
    /// Not left to the closing of the file: a process that is being started at this moment holds a copy of it for a little longer.
    fn drop(&mut self) {
        // What cannot be unlocked goes with the last copy.
        let _ = self.file.unlock();
    }
}

/// Why a task's lock was not given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskLockError {
    /// Another runner has it.
    #[error("the task in {} is owned by {}", folder.display(), owner_name(*owner))]
    Owned {
        /// The task's folder.
        folder: PathBuf,
        /// The owner's process id, where its file tells it.
        owner: Option<u32>,
    },
    /// The lock's file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Fault for TaskLockError {
    fn facts(&self) -> Facts {
        match self {
            Self::Owned { .. } => Facts::new(
                "task-owned",
                Kind::Conflict,
                "wait until it ends, or cancel it; nothing was done here",
            ),
            Self::File(error) => error.facts(),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Owned { .. } => Some("one runner at a time owns a task".into()),
            Self::File(error) => error.why(),
        }
    }
}

fn owner_name(owner: Option<u32>) -> String {
    owner.map_or_else(
        || "another process".to_owned(),
        |id| format!("process {id}"),
    )
}

fn locked(mut file: File, path: &Path) -> Result<File, TaskLockError> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // What cannot be read is not told; the refusal stands either way.
            let _ = (&mut file).take(20).read_to_string(&mut text);
            Err(TaskLockError::Owned {
                folder: super::durable_folder::parent(path).into(),
                owner: text.trim().parse().ok(),
            })
        }
        Err(TryLockError::Error(source)) => Err(FileError::new(path, Action::Lock, source).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{super::fixtures::assert_error, *};

    /// Between the fork and the exec of a process that somebody starts, that process has a copy of every open file. A task
    /// that had just ended was then refused as owned by this very process.
    #[test]
    fn a_lock_that_is_dropped_is_free_although_a_process_that_is_being_started_has_a_copy_of_its_file()
     {
        let folder = tempfile::tempdir().unwrap();
        let lock = TaskLock::acquire(folder.path()).unwrap();
        let copy = lock.file.try_clone().unwrap();
        assert!(TaskLock::acquire(folder.path()).is_err());
        drop(lock);
        TaskLock::acquire(folder.path()).unwrap();
        drop(copy);
    }

    #[test]
    fn a_second_runner_is_refused_at_once_and_told_who_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let first = TaskLock::acquire(folder.path()).unwrap();
        assert_eq!(first.folder(), folder.path());
        for refused in [
            TaskLock::acquire(folder.path()).unwrap_err(),
            TaskLock::acquire_read_only(folder.path()).unwrap_err(),
        ] {
            let name = format!("process {}", std::process::id());
            assert!(refused.to_string().contains(&name), "{refused}");
            assert_error(refused, "task-owned", Kind::Conflict);
        }
        drop(first);
        TaskLock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn a_longer_id_of_an_earlier_owner_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(LOCK_FILE), "99999999999999\n").unwrap();
        let _first = TaskLock::acquire(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(LOCK_FILE)).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }

    #[test]
    fn an_owner_that_left_no_id_is_refused_for_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(LOCK_FILE), "no number").unwrap();
        let _audit = TaskLock::acquire_read_only(folder.path()).unwrap().unwrap();
        let refused = TaskLock::acquire(folder.path()).unwrap_err();
        assert!(refused.to_string().contains("another process"), "{refused}");
    }

    #[test]
    fn an_audit_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            TaskLock::acquire_read_only(folder.path())
                .unwrap()
                .is_none()
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_lock_of_a_killed_owner_is_free_at_once() {
        let folder = tempfile::tempdir().unwrap();
        drop(TaskLock::acquire(folder.path()).unwrap());
        let path = folder.path().join(LOCK_FILE);
        let lock = locked(File::open(&path).unwrap(), &path).unwrap();
        // The child holds the very lock of this process, and alone once this process has closed its file.
        let mut owner = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::from(lock))
            .spawn()
            .unwrap();
        let refused = TaskLock::acquire(folder.path()).unwrap_err();
        assert_error(refused, "task-owned", Kind::Conflict);
        owner.kill().unwrap();
        owner.wait().unwrap();
        TaskLock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_that_cannot_be_made_is_an_error_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("gone");
        assert_error(
            TaskLock::acquire(&missing).unwrap_err(),
            "folder-missing",
            Kind::Unavailable,
        );
        std::fs::create_dir(folder.path().join(LOCK_FILE)).unwrap();
        assert_error(
            TaskLock::acquire(folder.path()).unwrap_err(),
            "path-taken",
            Kind::Conflict,
        );
    }
}
