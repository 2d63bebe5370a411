//! `faults.json`: the faults that the trusted side wants injected into one task.
//!
//! Owns the file's form. It injects nothing, and a plugin never sees it. Written at admission, read on every run by the
//! host's fault injector.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{durable_file, file_error::FileError};
use crate::{
    core::contract::OperationKey,
    words::{
        error::{Facts, Fault, Kind},
        json::{self, JsonBounds},
    },
};

const BOUNDS: JsonBounds = JsonBounds {
    bytes: 4096,
    depth: 4,
};

/// What is to go wrong in one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Faults {
    /// The operation whose response is lost once its commit is durable.
    #[serde(rename = "loseResponseOf")]
    pub lose_response_of: OperationKey,
}

impl Faults {
    /// Reads a task's faults; none: it has no such file.
    ///
    /// # Errors
    /// [`FaultsError`] if the file is unreadable or not exactly the documented form.
    pub fn read(path: &Path) -> Result<Option<Self>, FaultsError> {
        let Some(bytes) = durable_file::read(path, BOUNDS.bytes)? else {
            return Ok(None);
        };
        let malformed = |why: String| FaultsError::Malformed {
            path: path.into(),
            why,
        };
        let text = String::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
        let value =
            json::parse_strict(&text, BOUNDS).map_err(|error| malformed(error.to_string()))?;
        let faults: Self =
            serde_json::from_value(value).map_err(|error| malformed(error.to_string()))?;
        Ok(Some(faults))
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical(self).into_bytes()
    }
}

/// Why a task's faults cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultsError {
    /// Not the documented form.
    #[error("{} is not a list of faults", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Fault for FaultsError {
    fn facts(&self) -> Facts {
        match self {
            Self::Malformed { .. } => Facts::new(
                "faults-malformed",
                Kind::Corrupt,
                "restore the file as it was at admission, then resume",
            ),
            Self::File(error) => error.facts(),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Malformed { why, .. } => Some(why.clone()),
            Self::File(error) => error.why(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixtures::assert_error, *};

    #[test]
    fn faults_read_back_as_written_and_none_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults.json");
        assert_eq!(Faults::read(&path).unwrap(), None);
        let faults = Faults {
            lose_response_of: OperationKey::new("op".into()).unwrap(),
        };
        durable_file::write(&path, &faults.to_bytes()).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            r#"{"loseResponseOf":"op"}"#
        );
        assert_eq!(Faults::read(&path).unwrap(), Some(faults));
    }

    #[test]
    fn any_other_form_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults.json");
        let long = format!(r#"{{"loseResponseOf":"{}"}}"#, "x".repeat(201));
        for bad in [
            "",
            "{}",
            "null",
            r#"{"loseResponseOf":""}"#,
            r#"{"loseResponseOf":null}"#,
            r#"{"loseResponseOf":"a","more":1}"#,
            r#"{"loseResponseOf":"a","loseResponseOf":"b"}"#,
            &long,
        ] {
            std::fs::write(&path, bad).unwrap();
            let error = Faults::read(&path).unwrap_err();
            assert_error(error, "faults-malformed", Kind::Corrupt);
        }
        std::fs::write(&path, b"\xff").unwrap();
        let error = Faults::read(&path).unwrap_err();
        assert_error(error, "faults-malformed", Kind::Corrupt);
        let error = Faults::read(folder.path()).unwrap_err();
        assert_error(error, "path-taken", Kind::Conflict);
    }
}
