//! The files that a task leaves, written as durably as the host writes them: what of a task's time is theirs.

use std::{
    fs::{self, File as Handle},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Result;
use tempfile::NamedTempFile;

use crate::recording::File;

/// The files beside the databases of a floor.
pub(crate) struct Files {
    tasks: PathBuf,
}

impl Files {
    /// Makes the folder of the tasks' folders. A component is synced once per process, so it has no part in a task's time.
    pub(crate) fn prepare(workspace: &Path) -> Result<Self> {
        let tasks = workspace.join("tasks");
        fs::create_dir_all(&tasks)?;
        Ok(Self { tasks })
    }

    /// What is durable before the first record.
    pub(crate) fn admit(&self, task: &str, files: &[File]) -> Result<()> {
        let folder = self.tasks.join(task);
        fs::create_dir(&folder)?;
        let mut lock = Handle::create(folder.join(".lock"))?;
        lock.lock()?;
        writeln!(lock, "{}", std::process::id())?;
        for file in files {
            place(&folder, file)?;
        }
        sync(&folder)?;
        sync(&self.tasks)
    }

    /// An export, whole for every reader but not synced.
    pub(crate) fn keep_evidence(&self, task: &str, evidence: &File) -> Result<()> {
        let folder = self.tasks.join(task).join("evidence");
        if !folder.is_dir() {
            fs::create_dir(&folder)?;
        }
        temporary(&folder, evidence)?.persist(folder.join(&evidence.name))?;
        Ok(())
    }

    /// The outputs, the last of which says that all stand.
    pub(crate) fn publish(&self, task: &str, outputs: &[File]) -> Result<()> {
        let task = self.tasks.join(task);
        let folder = task.join("output");
        fs::create_dir(&folder)?;
        sync(&task)?;
        let Some((last, others)) = outputs.split_last() else {
            return Ok(());
        };
        for output in others {
            place(&folder, output)?;
        }
        sync(&folder)?;
        place(&folder, last)?;
        sync(&folder)
    }
}

fn place(folder: &Path, file: &File) -> Result<()> {
    let temporary = temporary(folder, file)?;
    temporary.as_file().sync_all()?;
    temporary.persist(folder.join(&file.name))?;
    Ok(())
}

fn temporary(folder: &Path, file: &File) -> Result<NamedTempFile> {
    let mut temporary = NamedTempFile::new_in(folder)?;
    temporary.write_all(file.text.as_bytes())?;
    Ok(temporary)
}

fn sync(path: &Path) -> Result<()> {
    Ok(Handle::open(path)?.sync_all()?)
}
