//! What a task has done to its business, and nothing of how it came about: to compare two runs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{Workspace, demo};

impl Workspace {
    /// Every row of the plugin's tables and of the ledger, and what agents remember, without the positions, times and new ids that a
    /// kill may change.
    pub fn effects(&self) -> Vec<String> {
        let ledger = "SELECT 'wharf_ledger', plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool,
                             arguments_digest, data
                      FROM wharf_ledger ORDER BY plugin, subject, operation_key";
        let mut rows = self.select(ledger);
        for table in self.select("SELECT name FROM wharf_tables WHERE kind = 'table' ORDER BY name")
        {
            rows.extend(self.select(&format!("SELECT '{table}', * FROM {table} ORDER BY 2")));
        }
        if self
            .tables("memory.sqlite")
            .contains(&"memories".to_owned())
        {
            let memories = "SELECT 'memories', scope, content, source, version, usage_count
                            FROM memories ORDER BY scope, content";
            rows.extend(self.select_in("memory.sqlite", memories));
        }
        rows
    }

    /// What the task has done so far, and what it says of it: effects, journal and files, the databases and the lock without.
    pub fn standing(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let mut files = BTreeMap::new();
        read(&self.path().join("tasks"), &mut files);
        read(&self.path().join("plugins"), &mut files);
        (self.effects(), self.journal(demo::TASK), files)
    }

    /// Changes a database with plain SQL, as somebody with an editor would.
    #[track_caller]
    pub fn tamper(&self, database: &str, sql: &str) {
        let connection = self.open_for_tampering(database);
        connection.execute_batch(sql).unwrap();
        assert_ne!(connection.changes(), 0, "{sql}");
    }

    /// Another workspace with the same files, which nobody may be writing to.
    pub fn copy(&self) -> Self {
        self.copy_to(Self::new())
    }

    /// The same at a place that is still empty.
    pub fn copy_to(&self, copy: Self) -> Self {
        copy_folder(&self.path(), &copy.path());
        copy
    }
}

fn read(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, files);
        } else if !path.ends_with(".lock") {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
}

/// A folder with all that is in it; the copy is missing.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}
