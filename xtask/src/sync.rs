//! Copies that touch nothing that is already equal, and that no reader ever sees half written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use anyhow::{Context, Result};

/// What a copy did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    /// The destination had other bytes, or none.
    Updated,
    /// The destination was equal already.
    Unchanged,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        })
    }
}

/// Makes `to` a copy of the file `from`, by a rename.
pub(crate) fn file(from: &Path, to: &Path) -> Result<Change> {
    replace(from, to).with_context(|| failed(from, to))
}

/// Makes `to` a copy of the folder `from`: what `from` does not have is removed.
pub(crate) fn folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| failed(from, to))?;
    let wanted = names(from).with_context(|| failed(from, to))?;
    for name in &wanted {
        let (from, to) = (from.join(name), to.join(name));
        if from.is_dir() {
            folder(&from, &to)?;
        } else {
            file(&from, &to)?;
        }
    }
    for stale in names(to)
        .with_context(|| failed(from, to))?
        .into_iter()
        .filter(|name| !wanted.contains(name))
    {
        remove(&to.join(stale)).with_context(|| failed(from, to))?;
    }
    Ok(())
}

fn replace(from: &Path, to: &Path) -> io::Result<Change> {
    let bytes = fs::read(from)?;
    if fs::read(to).is_ok_and(|present| present == bytes) {
        return Ok(Change::Unchanged);
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let unfinished = beside(to);
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, to)?;
    Ok(Change::Updated)
}

/// A name of our own in the same folder, since a rename is atomic only within one file system.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    PathBuf::from(name)
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect()
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn failed(from: &Path, to: &Path) -> String {
    format!("could not copy {} to {}", from.display(), to.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_file_is_left_alone_and_a_different_one_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("new/to"));
        fs::write(&from, "one").unwrap();
        assert_eq!(file(&from, &to).unwrap(), Change::Updated);
        assert_eq!(file(&from, &to).unwrap(), Change::Unchanged);
        fs::write(&from, "two").unwrap();
        assert_eq!(file(&from, &to).unwrap(), Change::Updated);
        assert_eq!(fs::read_to_string(&to).unwrap(), "two");
        assert_eq!(
            names(to.parent().unwrap()).unwrap(),
            ["to"],
            "no temporary file stays behind"
        );
    }

    #[test]
    fn a_folder_becomes_an_exact_copy() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/a.sql"), "a").unwrap();
        fs::create_dir_all(to.join("gone")).unwrap();
        fs::write(to.join("gone/b.sql"), "b").unwrap();
        folder(&from, &to).unwrap();
        assert_eq!(names(&to).unwrap(), ["inner"]);
        assert_eq!(fs::read_to_string(to.join("inner/a.sql")).unwrap(), "a");
    }
}
