//! Why a file or a folder could not be used.
//!
//! Owns how the operating system's answers become codes, kinds and hints. It never decides whether a failure matters.
//! Made by everything here that touches a file.

use std::{
    fmt,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::words::error::{Facts, Fault, Kind};

/// What was tried on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Reading a file or listing a folder.
    Read,
    /// Writing a file.
    Write,
    /// Making a folder.
    Create,
    /// Making durable.
    Sync,
    /// Removing a file.
    Remove,
    /// Taking a lock.
    Lock,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "written",
            Self::Create => "created",
            Self::Sync => "synced",
            Self::Remove => "removed",
            Self::Lock => "locked",
        })
    }
}

/// Why a file or a folder could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("{} cannot be {action}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: Action,
        /// What the operating system said.
        source: io::Error,
    },
    /// A folder, a pipe or the like stands where a file should.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// More bytes than such a file may have.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Bytes allowed.
        limit: usize,
    },
}

impl FileError {
    /// What the operating system said of a path.
    #[must_use]
    pub fn new(path: &Path, action: Action, source: io::Error) -> Self {
        Self::Io {
            path: path.into(),
            action,
            source,
        }
    }

    /// Why, without the path, for an error that names the path itself.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Io { source, .. } => source.to_string(),
            Self::NotAFile { .. } => "a folder or a special file stands there".to_owned(),
            Self::TooLarge { limit, .. } => format!("it has more than {limit} bytes"),
        }
    }
}

impl Fault for FileError {
    fn facts(&self) -> Facts {
        let source = match self {
            Self::Io { source, .. } => source,
            Self::NotAFile { .. } => {
                return Facts::new(
                    "path-taken",
                    Kind::Conflict,
                    "move away what stands there, then run the same command again",
                );
            }
            Self::TooLarge { .. } => {
                return Facts::new(
                    "file-too-large",
                    Kind::Limit,
                    "check that it is the file that was meant",
                );
            }
        };
        let (code, kind, hint) = match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => (
                "disk-full",
                Kind::Unavailable,
                "free some space, then resume; what was committed stays",
            ),
            ErrorKind::ReadOnlyFilesystem => (
                "disk-read-only",
                Kind::Unavailable,
                "make the file system writable, or choose a directory on another one",
            ),
            ErrorKind::PermissionDenied => (
                "file-permission",
                Kind::Unavailable,
                "give this user the right to read and write there, then run the same command again",
            ),
            ErrorKind::NotFound => (
                "folder-missing",
                Kind::Unavailable,
                "a folder of the path is missing: restore it, or check the path",
            ),
            ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::AlreadyExists => (
                "path-taken",
                Kind::Conflict,
                "a file stands where a folder should, or the other way round: move it away",
            ),
            ErrorKind::InvalidInput | ErrorKind::InvalidFilename => (
                "path-invalid",
                Kind::InvalidInput,
                "name a path that is not empty, not too long and without NUL",
            ),
            _ => (
                "file-io",
                Kind::Unavailable,
                "check the disk and the system's log, then resume",
            ),
        };
        Facts::new(code, kind, hint)
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::TooLarge { .. } => Some("no file of this sort may be larger".into()),
            _ => Some(self.cause()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{super::fixtures::assert_error, *};

    #[test]
    fn each_common_failure_of_a_disk_has_its_own_code_and_hint() {
        let mut hints = std::collections::HashSet::new();
        for (kinds, code) in [
            (
                &[
                    ErrorKind::StorageFull,
                    ErrorKind::QuotaExceeded,
                    ErrorKind::FileTooLarge,
                ][..],
                "disk-full",
            ),
            (&[ErrorKind::ReadOnlyFilesystem], "disk-read-only"),
            (&[ErrorKind::PermissionDenied], "file-permission"),
            (&[ErrorKind::NotFound], "folder-missing"),
            (&[ErrorKind::Other], "file-io"),
        ] {
            for kind in kinds {
                let error = FileError::new(Path::new("/a"), Action::Write, (*kind).into());
                hints.insert(error.facts().hint);
                assert_error(error, code, Kind::Unavailable);
            }
        }
        assert_eq!(hints.len(), 5);
        for path in [Path::new("a\0b"), Path::new(&*"x".repeat(5000))] {
            let source = fs::read(path).unwrap_err();
            let error = FileError::new(path, Action::Read, source);
            assert_error(error, "path-invalid", Kind::InvalidInput);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_apart_by_what_the_system_really_says() {
        let full = Path::new("/dev/full");
        let error = fs::write(full, b"x").unwrap_err();
        assert_error(
            FileError::new(full, Action::Write, error),
            "disk-full",
            Kind::Unavailable,
        );
    }
}
