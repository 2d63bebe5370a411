//! Reads the files that are handed in, within a bound.

use std::{fs::File, io::Read as _, path::Path};

use super::error::CliError;

/// The most bytes that a file of SQL may have: 16 MiB.
pub(super) const MAX_SQL_BYTES: usize = 16 * 1024 * 1024;

/// All bytes of a file; pipes may be named as well.
pub(super) fn bytes(what: &'static str, path: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    let unreadable = |source| CliError::Unreadable {
        what,
        path: path.into(),
        source,
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > limit {
        return Err(CliError::TooLarge {
            what,
            path: path.into(),
            limit,
        });
    }
    Ok(bytes)
}

/// The text of a file.
pub(super) fn text(what: &'static str, path: &Path, limit: usize) -> Result<String, CliError> {
    String::from_utf8(bytes(what, path, limit)?).map_err(|source| CliError::NotText {
        what,
        path: path.into(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound_and_not_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(text("file", &path, 3).unwrap(), "abc");
        assert!(matches!(
            text("file", &path, 2),
            Err(CliError::TooLarge { limit: 2, .. })
        ));
        std::fs::write(&path, [0xff]).unwrap();
        assert!(matches!(
            text("file", &path, 3),
            Err(CliError::NotText { .. })
        ));
        assert!(matches!(
            text("file", folder.path(), 3),
            Err(CliError::Unreadable { .. })
        ));
    }
}
