//! A directory for a workspace, which vanishes with the test.

use std::{
    collections::{BTreeMap, BTreeSet},
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

    /// As [`Self::new`], in memory where there is such a disk: for tests that record syncs, or make many, and need not wait for them.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::below(memory)
        } else {
            Self::new()
        }
    }

    /// As [`Self::new`], on a disk of the test's choice.
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: TempDir::new_in(folder).unwrap(),
        }
    }

    /// A workspace in memory with these files and folders, by their paths relative to [`Self::folder`].
    pub fn of(files: BTreeMap<PathBuf, Option<Vec<u8>>>) -> Self {
        let workspace = Self::in_memory();
        for (path, content) in files {
            let path = workspace.folder().join(path);
            match content {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::create_dir_all(path).unwrap(),
            }
        }
        workspace
    }

    /// The folder that holds the workspace's directory, and what is handed in.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Leaves it where it is, to be looked at.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
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

    /// Every file below the directory with its bytes, and the folders; nothing: the directory is missing or empty. What
    /// SQLite keeps beside an open database is left out.
    pub fn files(&self) -> Files {
        let mut found = Files::new();
        if self.path().exists() {
            collect(&self.path(), &self.path(), &mut found);
        }
        found
    }

    /// As [`Self::files`], but of the databases what stands in their tables, and nothing that only tells that somebody was
    /// here: the lock and the barriers.
    pub fn content(&self) -> Files {
        let mut files = self.files();
        files.retain(|name, _| !name.ends_with(".lock"));
        for database in ["business.sqlite", "memory.sqlite"] {
            files.remove(database);
            for table in self.tables(database) {
                let rows = self.select_in(database, &format!("SELECT * FROM {table}"));
                files.insert(format!("{database}: {table}"), rows.join("\n").into_bytes());
            }
        }
        files
    }
}

/// Files by name; folders end with `/`.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The names of what was added, removed or changed.
pub fn changes(before: &Files, after: &Files) -> Vec<String> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .cloned()
        .collect()
}

fn collect(top: &Path, folder: &Path, found: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.insert(name + "/", Vec::new());
            collect(top, &path, found);
        } else if !name.ends_with("-wal") && !name.ends_with("-shm") {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
}
