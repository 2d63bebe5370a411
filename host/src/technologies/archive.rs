//! The files of tasks: evidence and outputs, in their folders of the workspace.
//!
//! Owns how they are compared and written. It never decides what they hold: every byte comes from the ledger or the
//! journal, which can give it again. Called by the core through [`Archive`]; whoever writes owns the task's lock.

use std::path::PathBuf;

use super::{durable_file, durable_folder, file_error::FileError, workspace::Workspace};
use crate::{
    core::ports::archive::{Archive, Evidence, FileState, OutputFile},
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

/// The files of the tasks of one workspace.
#[derive(Debug, Clone)]
pub struct FileArchive {
    workspace: Workspace,
    sync_outputs: bool,
}

impl FileArchive {
    /// The files of a workspace.
    #[must_use]
    pub const fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            sync_outputs: true,
        }
    }

    /// Whether outputs are durable when they are published, as they are without this call. If not, a power loss may tear or
    /// take those of the last seconds; the journal, which has them whole, writes them again when the task is resumed.
    #[must_use]
    pub const fn sync_outputs(mut self, sync: bool) -> Self {
        self.sync_outputs = sync;
        self
    }

    fn evidence_path(&self, task: &TaskId, evidence: &Evidence) -> Result<PathBuf, ArchiveError> {
        if Digest::of(&evidence.bytes) != evidence.id {
            return Err(ArchiveError::NotItsDigest { id: evidence.id });
        }
        let folder = self.workspace.evidence_folder(task);
        Ok(folder.join(format!("{}.json", evidence.id)))
    }

    fn output_path(&self, task: &TaskId, output: &OutputFile) -> Result<PathBuf, ArchiveError> {
        if is_plain_name(&output.name) {
            Ok(self.workspace.output_folder(task).join(&output.name))
        } else {
            Err(ArchiveError::OutputName {
                name: output.name.clone(),
            })
        }
    }

    /// Where each output goes and what stands there; no name twice, nothing foreign in the way.
    fn survey(
        &self,
        task: &TaskId,
        outputs: &[OutputFile],
    ) -> Result<Vec<(PathBuf, FileState)>, ArchiveError> {
        let mut surveyed: Vec<(PathBuf, FileState)> = Vec::new();
        for output in outputs {
            let path = self.output_path(task, output)?;
            if surveyed.iter().any(|(other, _)| *other == path) {
                return Err(ArchiveError::OutputName {
                    name: output.name.clone(),
                });
            }
            match durable_file::inspect(&path, &output.bytes)? {
                FileState::Other => return Err(ArchiveError::Conflict { path }),
                state => surveyed.push((path, state)),
            }
        }
        Ok(surveyed)
    }
}

impl Archive for FileArchive {
    fn inspect_evidence(&self, task: &TaskId, evidence: &Evidence) -> Result<FileState, Error> {
        let path = self.evidence_path(task, evidence)?;
        Ok(durable_file::inspect(&path, evidence.bytes.as_bytes())?)
    }

    fn keep_evidence(&self, task: &TaskId, evidence: &Evidence) -> Result<(), Error> {
        let path = self.evidence_path(task, evidence)?;
        match durable_file::inspect(&path, evidence.bytes.as_bytes())? {
            FileState::Whole => Ok(()),
            FileState::Other => Err(ArchiveError::Conflict { path }.into()),
            FileState::Torn => Ok(durable_file::export(&path, evidence.bytes.as_bytes())?),
            FileState::Absent => {
                let folder = durable_folder::parent(&path);
                if !folder.is_dir() {
                    durable_folder::ensure(folder)?;
                }
                Ok(durable_file::export(&path, evidence.bytes.as_bytes())?)
            }
        }
    }

    fn evidence_files(&self, task: &TaskId) -> Result<Vec<String>, Error> {
        let mut names =
            durable_folder::names(&self.workspace.evidence_folder(task))?.unwrap_or_default();
        names.retain(|name| !durable_file::is_temporary(name));
        Ok(names)
    }

    fn inspect_output(&self, task: &TaskId, output: &OutputFile) -> Result<FileState, Error> {
        let path = self.output_path(task, output)?;
        Ok(durable_file::inspect(&path, &output.bytes)?)
    }

    fn publish(&self, task: &TaskId, outputs: &[OutputFile]) -> Result<(), Error> {
        let surveyed = self.survey(task, outputs)?;
        let folder = self.workspace.output_folder(task);
        durable_folder::ensure(&folder)?;
        if !self.sync_outputs {
            return outputs
                .iter()
                .zip(surveyed)
                .filter(|(_, (_, state))| *state != FileState::Whole)
                .try_for_each(|(output, (path, _))| {
                    Ok(durable_file::export(&path, &output.bytes)?)
                });
        }
        durable_folder::sync(durable_folder::parent(&folder))?;
        let put = |(output, (path, state)): &(&OutputFile, (PathBuf, FileState))| match state {
            FileState::Whole => durable_file::settle(path),
            _ => durable_file::place(path, &output.bytes),
        };
        let outputs: Vec<_> = outputs.iter().zip(surveyed).collect();
        let Some((last, others)) = outputs.split_last() else {
            return Ok(());
        };
        // The last of them is the mark that all of them stand, so the others stand before it.
        if !others.is_empty() {
            others.iter().try_for_each(put)?;
            durable_folder::sync(&folder)?;
        }
        put(last)?;
        Ok(durable_folder::sync(&folder)?)
    }
}

/// Why a file of a task cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Other bytes stand there.
    #[error("{} has other bytes than the journal says", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
    },
    /// An output's name is no plain file name, or stands twice in one publication.
    #[error("an output was to be published under the name {name:?}")]
    OutputName {
        /// The name.
        name: String,
    },
    /// Evidence whose id is not the digest of its bytes.
    #[error("evidence {id} does not have the digest in its id")]
    NotItsDigest {
        /// The id.
        id: Digest,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Fault for ArchiveError {
    fn facts(&self) -> Facts {
        match self {
            Self::Conflict { .. } => Facts::new(
                "file-conflict",
                Kind::Conflict,
                "find out who changed the file, move it away, then resume: it is written again",
            ),
            Self::OutputName { .. } => Facts::new(
                "output-name",
                Kind::Bug,
                "report it: names are to be checked before they come here",
            ),
            Self::NotItsDigest { .. } => Facts::new(
                "evidence-digest",
                Kind::Bug,
                "report it: evidence is to be hashed before it comes here",
            ),
            Self::File(error) => error.facts(),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Conflict { .. } => Some("somebody else wrote or changed it".into()),
            Self::File(error) => error.why(),
            _ => None,
        }
    }
}

/// 1 to 80 letters, digits, `.`, `_` or `-` of ASCII, no dot first.
fn is_plain_name(name: &str) -> bool {
    (1..=80).contains(&name.len())
        && !name.starts_with('.')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::{
        super::fixtures::{assert_error, workspace},
        *,
    };

    fn archive() -> (TempDir, FileArchive, TaskId) {
        let (folder, workspace) = workspace();
        let task: TaskId = "t1".parse().unwrap();
        drop(workspace.claim(&task).unwrap());
        (folder, FileArchive::new(workspace), task)
    }

    fn evidence(bytes: &str) -> Evidence {
        Evidence {
            id: Digest::of(bytes),
            bytes: bytes.to_owned(),
        }
    }

    fn output(name: &str, bytes: &str) -> OutputFile {
        OutputFile {
            name: name.to_owned(),
            bytes: bytes.into(),
        }
    }

    #[test]
    fn evidence_is_named_by_its_digest_and_torn_evidence_is_written_again() {
        let (_folder, archive, task) = archive();
        let one = evidence(r#"{"a":1}"#);
        let state = || archive.inspect_evidence(&task, &one).unwrap();
        assert_eq!(state(), FileState::Absent);
        assert!(archive.evidence_files(&task).unwrap().is_empty());
        archive.keep_evidence(&task, &one).unwrap();
        assert_eq!(state(), FileState::Whole);
        archive.keep_evidence(&task, &one).unwrap();
        let folder = archive.workspace.evidence_folder(&task);
        let path = folder.join(format!("{}.json", one.id));
        assert_eq!(fs::read_to_string(&path).unwrap(), one.bytes);
        for torn in [&b""[..], b"{\"a", b"{\"a\0\0"] {
            fs::write(&path, torn).unwrap();
            assert_eq!(state(), FileState::Torn);
            archive.keep_evidence(&task, &one).unwrap();
            assert_eq!(state(), FileState::Whole);
        }
        fs::write(folder.join(".wharf-x.tmp"), b"").unwrap();
        fs::write(folder.join("0.json"), b"").unwrap();
        assert_eq!(
            archive.evidence_files(&task).unwrap(),
            ["0.json".to_owned(), format!("{}.json", one.id)]
        );
    }

    #[test]
    fn evidence_that_somebody_changed_is_a_conflict_and_stays() {
        let (_folder, archive, task) = archive();
        let one = evidence(r#"{"a":1}"#);
        archive.keep_evidence(&task, &one).unwrap();
        let folder = archive.workspace.evidence_folder(&task);
        let path = folder.join(format!("{}.json", one.id));
        fs::write(&path, r#"{"a":2}"#).unwrap();
        assert_eq!(
            archive.inspect_evidence(&task, &one).unwrap(),
            FileState::Other
        );
        assert_error(
            archive.keep_evidence(&task, &one).unwrap_err(),
            "file-conflict",
            Kind::Conflict,
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), r#"{"a":2}"#);
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, b"").unwrap();
        for error in [
            archive.keep_evidence(&task, &one).unwrap_err(),
            archive.evidence_files(&task).unwrap_err(),
        ] {
            assert_error(error, "path-taken", Kind::Conflict);
        }
    }

    #[test]
    fn evidence_under_a_foreign_id_is_refused() {
        let (_folder, archive, task) = archive();
        let mut wrong = evidence("{}");
        wrong.id = Digest::of("x");
        for error in [
            archive.keep_evidence(&task, &wrong).unwrap_err(),
            archive.inspect_evidence(&task, &wrong).unwrap_err(),
        ] {
            assert_error(error, "evidence-digest", Kind::Bug);
        }
        assert!(!archive.workspace.evidence_folder(&task).exists());
    }

    #[test]
    fn publication_is_idempotent_and_completes_what_was_cut_short() {
        for sync in [true, false] {
            let (_folder, archive, task) = archive();
            let archive = archive.sync_outputs(sync);
            let outputs = [output("a.json", "one"), output("report.json", "two")];
            archive.publish(&task, &outputs).unwrap();
            archive.publish(&task, &outputs).unwrap();
            let folder = archive.workspace.output_folder(&task);
            fs::remove_file(folder.join("report.json")).unwrap();
            fs::write(folder.join("a.json"), b"o\0").unwrap();
            archive.publish(&task, &outputs).unwrap();
            for output in &outputs {
                assert_eq!(
                    archive.inspect_output(&task, output).unwrap(),
                    FileState::Whole
                );
            }
            assert_eq!(
                durable_folder::names(&folder).unwrap().unwrap(),
                ["a.json", "report.json"]
            );
        }
    }

    #[test]
    fn a_conflict_is_found_before_anything_is_written() {
        let (_folder, archive, task) = archive();
        let folder = archive.workspace.output_folder(&task);
        fs::create_dir(&folder).unwrap();
        let outputs = [output("a.json", "one"), output("report.json", "two")];
        for theirs in [false, true] {
            let path = folder.join("report.json");
            if theirs {
                fs::write(&path, "theirs").unwrap();
            } else {
                fs::create_dir(&path).unwrap();
            }
            assert_error(
                archive.publish(&task, &outputs).unwrap_err(),
                "file-conflict",
                Kind::Conflict,
            );
            assert_eq!(
                durable_folder::names(&folder).unwrap().unwrap(),
                ["report.json"]
            );
            if !theirs {
                fs::remove_dir(&path).unwrap();
            }
        }
        assert_eq!(
            fs::read_to_string(folder.join("report.json")).unwrap(),
            "theirs"
        );
    }

    #[test]
    fn only_plain_names_are_published_each_once() {
        let (_folder, archive, task) = archive();
        let long = "x".repeat(81);
        for bad in [
            "", ".", "..", ".a", "a/b", "../a", "a\\b", "a\0", "ä", "a b", &long,
        ] {
            for error in [
                archive.publish(&task, &[output(bad, "x")]).unwrap_err(),
                archive
                    .inspect_output(&task, &output(bad, "x"))
                    .unwrap_err(),
            ] {
                assert_error(error, "output-name", Kind::Bug);
            }
        }
        let twice = [output("a", "x"), output("a", "y")];
        assert_error(
            archive.publish(&task, &twice).unwrap_err(),
            "output-name",
            Kind::Bug,
        );
        assert!(!archive.workspace.output_folder(&task).exists());
    }

    #[test]
    fn an_output_folder_that_cannot_be_made_is_told() {
        let (_folder, archive, task) = archive();
        fs::remove_dir_all(archive.workspace.task_folder(&task)).unwrap();
        assert_error(
            archive.publish(&task, &[output("a", "x")]).unwrap_err(),
            "folder-missing",
            Kind::Unavailable,
        );
        fs::write(archive.workspace.task_folder(&task), b"").unwrap();
        assert_error(
            archive.publish(&task, &[output("a", "x")]).unwrap_err(),
            "path-taken",
            Kind::Conflict,
        );
    }
}
