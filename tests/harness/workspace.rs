//! A directory for a workspace, which vanishes with the test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

/// A place for one workspace. The directory itself is missing at first; beside it there is room for files to hand in.
pub struct Workspace {
    folder: TempDir,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The workspace's directory.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// A file to hand in, beside the workspace.
    pub fn handed_in(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn task_folder(&self, task: &str) -> PathBuf {
        self.path().join("tasks").join(task)
    }

    pub fn output(&self, task: &str, name: &str) -> PathBuf {
        self.task_folder(task).join("output").join(name)
    }

    /// The published report of a task.
    pub fn report(&self, task: &str) -> Value {
        let path = self.output(task, "report.json");
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap()
    }

    /// Every file below the directory with its bytes, folders without; none at all: the directory is missing. What SQLite
    /// keeps beside an open database is left out.
    pub fn files(&self) -> Option<BTreeMap<PathBuf, Option<Vec<u8>>>> {
        self.path().exists().then(|| {
            let mut found = BTreeMap::new();
            collect(&self.path(), &self.path(), &mut found);
            found
        })
    }
}

fn collect(top: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(top).unwrap().to_owned();
        let text = name.to_string_lossy();
        if path.is_dir() {
            found.insert(name, None);
            collect(top, &path, found);
        } else if !text.ends_with("-wal") && !text.ends_with("-shm") {
            let bytes = fs::read(&path).unwrap();
            found.insert(name, Some(bytes));
        }
    }
}
