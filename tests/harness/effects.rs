//! What a task has done to its business, and nothing of how it came about: to compare two runs.

use std::fs;
use std::path::Path;

use super::Workspace;

impl Workspace {
    /// Every row of the plugin's tables and of the ledger, without the positions and times that a kill may change.
    pub fn effects(&self) -> Vec<String> {
        let ledger = "SELECT 'wharf_ledger', plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool,
                             arguments_digest, data
                      FROM wharf_ledger ORDER BY plugin, subject, operation_key";
        let mut rows = self.select(ledger);
        for table in self.select("SELECT name FROM wharf_tables WHERE kind = 'table' ORDER BY name")
        {
            rows.extend(self.select(&format!("SELECT '{table}', * FROM {table} ORDER BY 2")));
        }
        rows
    }

    /// Another workspace with the same files, which nobody may be writing to.
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        copy_folder(&self.path(), &copy.path());
        copy
    }
}

fn copy_folder(from: &Path, to: &Path) {
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
