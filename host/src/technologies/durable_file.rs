//! One file, written whole or not at all.
//!
//! Owns how a file of a workspace is written (temporary file, sync, rename, sync of the folder), read within a bound
//! and compared with what it should be. It never decides whether a difference matters, and it knows no file by name.
//! Called by everything else here that touches a file.

use std::{
    fs,
    fs::{File, FileType, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use tempfile::NamedTempFile;

use super::{
    durable_folder,
    file_error::{Action, FileError},
};
use crate::core::ports::archive::FileState;

const TEMPORARY_PREFIX: &str = ".wharf-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Writes a file and replaces what stood there. Durable when it returns, its folder included (but not that folder's own
/// entry in its parent). A kill leaves the old file or the new one, and at most a temporary file beside it.
///
/// # Errors
/// [`FileError`] with the file's path; the temporary file is removed.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    place(path, bytes)?;
    durable_folder::sync(durable_folder::parent(path))
}

/// As [`write()`], save that the file's name is durable only once its folder is synced: for several files at once.
///
/// # Errors
/// As [`write()`].
pub fn place(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = temporary_with(path, bytes)?;
    let fail = |source| FileError::new(path, Action::Write, source);
    temporary.as_file().sync_all().map_err(fail)?;
    temporary.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}

/// Writes a file so that no reader sees half of it. Not durable: after a power loss it may be torn or absent.
///
/// # Errors
/// As [`write()`].
pub fn export(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    temporary_with(path, bytes)?
        .persist(path)
        .map_err(|error| FileError::new(path, Action::Write, error.error))?;
    Ok(())
}

/// Makes a file durable that stands already and may have been written by a process that was killed before its sync. Its
/// name is durable only once its folder is synced.
///
/// # Errors
/// [`FileError`] if it cannot be opened or synced.
pub fn settle(path: &Path) -> Result<(), FileError> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|source| FileError::new(path, Action::Sync, source))
}

/// Removes a file where there is one. Durable only once its folder is synced.
///
/// # Errors
/// [`FileError`] if it stays.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(FileError::new(path, Action::Remove, source))
        }
        _ => Ok(()),
    }
}

/// Reads a file of at most `limit` bytes; none: it does not exist. A link is followed.
///
/// # Errors
/// [`FileError`] if it is no regular file, too large or unreadable.
pub fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, FileError> {
    let fail = |source| FileError::new(path, Action::Read, source);
    // Asked before opening: to open a named pipe would wait for its writer.
    match fs::metadata(path) {
        Err(source) if source.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(fail(source)),
        Ok(metadata) if !metadata.is_file() => {
            return Err(FileError::NotAFile { path: path.into() });
        }
        Ok(_) => {}
    }
    let bytes = read_at_most(path, limit).map_err(fail)?;
    if bytes.len() > limit {
        return Err(FileError::TooLarge {
            path: path.into(),
            limit,
        });
    }
    Ok(Some(bytes))
}

/// Compares the file that stands at `path` with what should stand there. A link, or anything else that is no regular
/// file, is [`FileState::Other`].
///
/// # Errors
/// [`FileError`] if it cannot be read.
pub fn inspect(path: &Path, wanted: &[u8]) -> Result<FileState, FileError> {
    let fail = |source| FileError::new(path, Action::Read, source);
    match fs::symlink_metadata(path) {
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(FileState::Absent),
        Err(source) => Err(fail(source)),
        Ok(metadata) if !metadata.is_file() => Ok(FileState::Other),
        Ok(_) => Ok(compare(
            &read_at_most(path, wanted.len()).map_err(fail)?,
            wanted,
        )),
    }
}

/// Compares bytes that were found with those that should be there: whole, torn (empty, a prefix, or a prefix followed by
/// NULs, never longer than what should be there) or other.
#[must_use]
pub fn compare(found: &[u8], wanted: &[u8]) -> FileState {
    if found == wanted {
        return FileState::Whole;
    }
    let same = found.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    if found.len() <= wanted.len() && found[same..].iter().all(|byte| *byte == 0) {
        FileState::Torn
    } else {
        FileState::Other
    }
}

/// Tells whether a file may have changed: whoever changes bytes, puts another file in the place or sets times back moves the time of
/// its last change, which nobody can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Of what stands at a path, a link itself; none: nothing.
    ///
    /// # Errors
    /// [`FileError`] if that cannot be told.
    pub fn of(path: &Path) -> Result<Option<Self>, FileError> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(Self {
                device: metadata.dev(),
                inode: metadata.ino(),
                size: metadata.size(),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
            })),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FileError::new(path, Action::Read, source)),
        }
    }
}

/// What stands at a path; none: nothing, or the path leads through a file. A link is followed.
///
/// # Errors
/// [`FileError`] if that cannot be told.
pub fn type_of(path: &Path) -> Result<Option<FileType>, FileError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(source) => match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
            _ => Err(FileError::new(path, Action::Read, source)),
        },
    }
}

/// Whether a file of that name is one that a killed [`write()`] or [`export`] left behind.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}

fn temporary_with(path: &Path, bytes: &[u8]) -> Result<NamedTempFile, FileError> {
    let fail = |source| FileError::new(path, Action::Write, source);
    // A new name for each: two processes may write the same component at once.
    let mut temporary = tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(durable_folder::parent(path))
        .map_err(|error| fail(bare(error)))?;
    temporary.as_file_mut().write_all(bytes).map_err(fail)?;
    Ok(temporary)
}

/// What the operating system said, without the temporary file's name that `tempfile` adds to it.
fn bare(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => error.kind().into(),
    }
}

/// The first `limit + 1` bytes at most.
fn read_at_most(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take((limit as u64).saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{super::fixtures::assert_error, *};
    use crate::words::error::Kind;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read(&path, 3).unwrap().unwrap(), b"two");
        export(&path, b"three").unwrap();
        settle(&path).unwrap();
        assert_eq!(inspect(&path, b"three").unwrap(), FileState::Whole);
        let names = durable_folder::names(folder.path()).unwrap().unwrap();
        assert_eq!(names, ["a.json"]);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(inspect(&path, b"three").unwrap(), FileState::Absent);
        assert!(read(&path, 9).unwrap().is_none());
    }

    #[test]
    fn others_may_read_what_was_written_as_far_as_the_mask_allows() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, plain) = (folder.path().join("a"), folder.path().join("b"));
        write(&ours, b"x").unwrap();
        fs::write(&plain, b"x").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }

    #[test]
    fn only_what_a_lost_write_leaves_is_torn() {
        let wanted = b"abcd";
        for (found, state) in [
            (&b"abcd"[..], FileState::Whole),
            (b"", FileState::Torn),
            (b"ab", FileState::Torn),
            (b"ab\0", FileState::Torn),
            (b"ab\0\0", FileState::Torn),
            (b"\0\0\0\0", FileState::Torn),
            (b"ab\0\0\0", FileState::Other),
            (b"abcd\0", FileState::Other),
            (b"abcde", FileState::Other),
            (b"ab\0d", FileState::Other),
            (b"abx", FileState::Other),
            (b"bcd", FileState::Other),
        ] {
            assert_eq!(compare(found, wanted), state, "{found:?}");
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("f");
            fs::write(&path, found).unwrap();
            assert_eq!(inspect(&path, wanted).unwrap(), state, "{found:?}");
        }
        assert_eq!(compare(b"", b""), FileState::Whole);
        assert_eq!(compare(b"a\0", b"a\0c"), FileState::Torn);
    }

    #[test]
    fn what_is_no_regular_file_is_neither_read_nor_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("t"), folder.path().join("l"));
        fs::write(&target, b"x").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert_eq!(inspect(&link, b"x").unwrap(), FileState::Other);
        assert_eq!(inspect(folder.path(), b"x").unwrap(), FileState::Other);
        assert_error(
            read(folder.path(), 1).unwrap_err(),
            "path-taken",
            Kind::Conflict,
        );
        assert_error(read(&target, 0).unwrap_err(), "file-too-large", Kind::Limit);
        let fifo = folder.path().join("p");
        if std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .is_ok_and(|status| status.success())
        {
            assert_error(read(&fifo, 1).unwrap_err(), "path-taken", Kind::Conflict);
            assert_eq!(inspect(&fifo, b"x").unwrap(), FileState::Other);
        }
    }

    #[test]
    fn a_failed_write_names_the_path_and_leaves_what_stood_there() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("gone").join("a");
        let error = write(&missing, b"x").unwrap_err();
        assert!(error.to_string().contains("gone/a"));
        assert!(!error.cause().contains(TEMPORARY_PREFIX), "{error:?}");
        assert_error(error, "folder-missing", Kind::Unavailable);

        let file = folder.path().join("file");
        write(&file, b"stays").unwrap();
        for act in [write, export, place] {
            let error = act(&file.join("below"), b"x").unwrap_err();
            assert_error(error, "path-taken", Kind::Conflict);
        }
        assert_error(
            inspect(&file.join("below"), b"x").unwrap_err(),
            "path-taken",
            Kind::Conflict,
        );
        assert_error(
            settle(&missing).unwrap_err(),
            "folder-missing",
            Kind::Unavailable,
        );

        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        for act in [write, export, place] {
            assert_error(act(&taken, b"x").unwrap_err(), "path-taken", Kind::Conflict);
        }
        assert!(remove(&taken).is_err());
        let names = durable_folder::names(folder.path()).unwrap().unwrap();
        assert_eq!(names, ["file", "taken"]);
        assert_eq!(inspect(&file, b"stays").unwrap(), FileState::Whole);
    }
}
