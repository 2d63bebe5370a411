//! Folders that are still there after the power was lost.
//!
//! Owns making, syncing, sweeping and removing folders. Unless it is asked to remove one, it removes nothing but temporary files
//! of [`super::durable_file`]. Called by everything here that makes a folder.

use std::{
    fs::{self, File},
    io::ErrorKind,
    path::Path,
};

use super::{
    durable_file,
    file_error::{Action, FileError},
};

/// Makes a folder and every missing folder above it. Durable when it returns, also where a killed process had made some
/// of them without a sync: every folder above is synced again, as far as this user may open it.
///
/// # Errors
/// [`FileError`] if one cannot be made, or one that was made here cannot be synced.
pub fn create(path: &Path) -> Result<(), FileError> {
    let mut made = Vec::new();
    for folder in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            continue;
        }
        ensure(folder)?;
        made.push(folder);
    }
    for folder in path.ancestors().filter(|folder| folder.parent().is_some()) {
        match sync(parent(folder)) {
            Err(error) if made.contains(&folder) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Makes one folder, in a folder that stands, unless it is there. Durable only once that other folder is synced.
///
/// # Errors
/// [`FileError`] if it cannot be made.
pub fn ensure(folder: &Path) -> Result<(), FileError> {
    match fs::create_dir(folder) {
        // Made by another process, or long ago.
        Err(_) if folder.is_dir() => Ok(()),
        other => other.map_err(|source| FileError::new(folder, Action::Create, source)),
    }
}

/// Makes the entries of a folder durable.
///
/// # Errors
/// [`FileError`] if it cannot be opened or synced.
pub fn sync(folder: &Path) -> Result<(), FileError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| FileError::new(folder, Action::Sync, source))
}

/// The names in a folder, sorted, those that are not UTF-8 with replacement characters; none: there is no such folder.
///
/// # Errors
/// [`FileError`] if it cannot be read.
pub fn names(folder: &Path) -> Result<Option<Vec<String>>, FileError> {
    let fail = |source| FileError::new(folder, Action::Read, source);
    let entries = match fs::read_dir(folder) {
        Err(source) if source.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(fail)?,
    };
    let mut names = entries
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(fail)?;
    names.sort();
    Ok(Some(names))
}

/// Removes the temporary files that killed writers left in a folder. Only the one process that writes there may call it.
///
/// # Errors
/// [`FileError`] if the folder cannot be read or a file stays.
pub fn sweep(folder: &Path) -> Result<(), FileError> {
    for name in names(folder)?.unwrap_or_default() {
        if durable_file::is_temporary(&name) {
            let path = folder.join(name);
            fs::remove_file(&path)
                .map_err(|source| FileError::new(&path, Action::Remove, source))?;
        }
    }
    Ok(())
}

/// Removes a folder with all that is in it; it may be gone already. Durable only once the folder that held it is synced.
///
/// # Errors
/// [`FileError`] if anything stays.
pub fn remove(folder: &Path) -> Result<(), FileError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(FileError::new(folder, Action::Remove, source))
        }
        _ => Ok(()),
    }
}

/// The folder that holds a path.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixtures::assert_error, *};
    use crate::words::error::Kind;

    #[test]
    fn every_missing_folder_is_made_and_what_stands_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create(&deep).unwrap();
        fs::write(deep.join("f"), b"x").unwrap();
        create(&deep).unwrap();
        ensure(&deep).unwrap();
        assert_eq!(names(&deep).unwrap().unwrap(), ["f"]);
        assert!(names(&folder.path().join("z")).unwrap().is_none());
    }

    #[test]
    fn a_file_in_the_way_is_named_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, b"x").unwrap();
        for act in [create, ensure, sweep] {
            let error = act(&file.join("below")).unwrap_err();
            assert!(error.to_string().contains("/f"), "{error}");
            assert_error(error, "path-taken", Kind::Conflict);
        }
        assert_error(ensure(&file).unwrap_err(), "path-taken", Kind::Conflict);
        assert_error(
            ensure(&folder.path().join("x/y")).unwrap_err(),
            "folder-missing",
            Kind::Unavailable,
        );
        assert_error(
            sync(&folder.path().join("x")).unwrap_err(),
            "folder-missing",
            Kind::Unavailable,
        );
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }

    #[test]
    fn only_temporary_files_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".wharf-a1.tmp", "a.tmp", ".wharf-x", "b"] {
            fs::write(folder.path().join(name), b"x").unwrap();
        }
        sweep(folder.path()).unwrap();
        assert_eq!(
            names(folder.path()).unwrap().unwrap(),
            [".wharf-x", "a.tmp", "b"]
        );
        sweep(&folder.path().join("none")).unwrap();
    }
}
