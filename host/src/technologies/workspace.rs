//! The layout of a workspace: one tenant's directory.
//!
//! Owns which files stand where, and what makes a directory a workspace. It never reads what is in them, and it knows
//! nothing of what was admitted: that stands in the journal. Called by the host's wiring and by the files here that own
//! one of those files each.
//!
//! A preparation that was killed leaves some of the names below and nothing else, each file whole, besides temporary
//! files and the databases in whatever state their own journals can restore. [`Workspace::create`] takes such a directory
//! for its own and goes on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    durable_file::{self, Action, FileError},
    durable_folder,
    task_lock::{LOCK_FILE, TaskLock, TaskLockError},
};
use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
    id::TaskId,
};

const BUSINESS: &str = "business.sqlite";
const MEMORY: &str = "memory.sqlite";
const PLUGINS: &str = "plugins";
const TASKS: &str = "tasks";
const REQUEST: &str = "request.json";
const POLICY: &str = "policy.json";
const FAULTS: &str = "faults.json";
const EVIDENCE: &str = "evidence";
const OUTPUT: &str = "output";

/// A workspace's directory, known to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Makes a workspace of a directory that is missing, empty, or what a killed preparation (or an earlier workspace)
    /// left. Durable when it returns. The databases are for their owners to make.
    ///
    /// # Errors
    /// [`WorkspaceError::Foreign`] if anything else stands there, before anything is written; [`FileError`].
    pub fn create(directory: &Path) -> Result<Self, WorkspaceError> {
        let workspace = Self::at(directory)?;
        workspace.refuse_foreign()?;
        for folder in [PLUGINS, TASKS] {
            durable_folder::create(&workspace.root.join(folder))?;
        }
        Ok(workspace)
    }

    /// Opens a workspace that stands. Writes nothing; other files beside it do not matter.
    ///
    /// # Errors
    /// [`WorkspaceError::NoTask`] if the directory is missing, none, or not a workspace that got as far as a task.
    pub fn open(directory: &Path) -> Result<Self, WorkspaceError> {
        let workspace = Self::at(directory)?;
        let no_task = |why| {
            Err(WorkspaceError::NoTask {
                directory: workspace.root.clone(),
                why,
            })
        };
        match fs::metadata(&workspace.root) {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                Err(FileError::new(&workspace.root, Action::Read, error).into())
            }
            Err(_) => no_task("there is no such directory"),
            Ok(metadata) if !metadata.is_dir() => no_task("it is not a directory"),
            Ok(_) if !workspace.tasks_folder().is_dir() => {
                no_task("it is not a workspace: it has no folder of tasks")
            }
            Ok(_) if !workspace.memory_database().is_file() => {
                no_task("its preparation did not end: it has no journal")
            }
            Ok(_) => Ok(workspace),
        }
    }

    /// The directory, as an absolute path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The business database.
    #[must_use]
    pub fn business_database(&self) -> PathBuf {
        self.root.join(BUSINESS)
    }

    /// The database of journals and memories.
    #[must_use]
    pub fn memory_database(&self) -> PathBuf {
        self.root.join(MEMORY)
    }

    /// The folder of pinned components.
    #[must_use]
    pub fn plugins_folder(&self) -> PathBuf {
        self.root.join(PLUGINS)
    }

    /// The pinned component of that digest.
    #[must_use]
    pub fn component_file(&self, digest: &Digest) -> PathBuf {
        self.plugins_folder().join(format!("{digest}.wasm"))
    }

    /// The folder of one task.
    #[must_use]
    pub fn task_folder(&self, task: &TaskId) -> PathBuf {
        self.tasks_folder().join(task.as_str())
    }

    /// A task's immutable request.
    #[must_use]
    pub fn request_file(&self, task: &TaskId) -> PathBuf {
        self.task_folder(task).join(REQUEST)
    }

    /// A task's policy.
    #[must_use]
    pub fn policy_file(&self, task: &TaskId) -> PathBuf {
        self.task_folder(task).join(POLICY)
    }

    /// The faults that the trusted side wants injected into a task.
    #[must_use]
    pub fn faults_file(&self, task: &TaskId) -> PathBuf {
        self.task_folder(task).join(FAULTS)
    }

    /// The folder of a task's evidence.
    #[must_use]
    pub fn evidence_folder(&self, task: &TaskId) -> PathBuf {
        self.task_folder(task).join(EVIDENCE)
    }

    /// The folder of a task's outputs.
    #[must_use]
    pub fn output_folder(&self, task: &TaskId) -> PathBuf {
        self.task_folder(task).join(OUTPUT)
    }

    /// The tasks that have a request, sorted by id. Which of them were admitted, the journal knows.
    ///
    /// # Errors
    /// [`FileError`] if the folder cannot be read.
    pub fn tasks(&self) -> Result<Vec<TaskId>, FileError> {
        let names = durable_folder::names(&self.tasks_folder())?.unwrap_or_default();
        Ok(names
            .into_iter()
            .filter_map(|name| TaskId::try_from(name).ok())
            .filter(|task| self.request_file(task).is_file())
            .collect())
    }

    /// Takes the lock of a task that may be new: makes its folder if need be.
    ///
    /// # Errors
    /// As [`TaskLock::acquire`].
    pub fn claim(&self, task: &TaskId) -> Result<TaskLock, TaskLockError> {
        durable_folder::create(&self.task_folder(task))?;
        TaskLock::acquire(&self.task_folder(task))
    }

    /// Removes the temporary files that killed runs left in a task's folders.
    ///
    /// # Errors
    /// [`FileError`] if one stays.
    pub fn sweep(&self, owner: &TaskLock) -> Result<(), FileError> {
        for folder in ["", EVIDENCE, OUTPUT] {
            durable_folder::sweep(&owner.folder().join(folder))?;
        }
        Ok(())
    }

    fn at(directory: &Path) -> Result<Self, FileError> {
        let root = std::path::absolute(directory)
            .map_err(|source| FileError::new(directory, Action::Read, source))?;
        Ok(Self { root })
    }

    fn tasks_folder(&self) -> PathBuf {
        self.root.join(TASKS)
    }

    fn refuse_foreign(&self) -> Result<(), WorkspaceError> {
        self.refuse_unless(&self.root, |name| match name {
            PLUGINS | TASKS => Some(Form::Folder),
            _ if is_database_file(name) => Some(Form::File),
            _ => None,
        })?;
        self.refuse_unless(&self.plugins_folder(), |name| {
            let digest = name.strip_suffix(".wasm")?;
            digest.parse::<Digest>().ok().map(|_| Form::File)
        })?;
        self.refuse_unless(&self.tasks_folder(), |name| {
            name.parse::<TaskId>().ok().map(|_| Form::Folder)
        })?;
        for task in durable_folder::names(&self.tasks_folder())?.unwrap_or_default() {
            self.refuse_unless(&self.tasks_folder().join(task), |name| match name {
                REQUEST | POLICY | FAULTS | LOCK_FILE => Some(Form::File),
                EVIDENCE | OUTPUT => Some(Form::Folder),
                _ => None,
            })?;
        }
        Ok(())
    }

    /// Refuses a folder with an entry whose name has no known form, or another form than it has.
    fn refuse_unless(
        &self,
        folder: &Path,
        known: impl Fn(&str) -> Option<Form>,
    ) -> Result<(), WorkspaceError> {
        let foreign = |path: PathBuf| {
            Err(WorkspaceError::Foreign {
                directory: self.root.clone(),
                path,
            })
        };
        // A path through a file is another's as well, and says so more plainly than the operating system.
        if folder.exists() && !folder.is_dir() {
            return foreign(folder.into());
        }
        for name in durable_folder::names(folder)?.unwrap_or_default() {
            let path = folder.join(&name);
            let form = match known(&name) {
                None if durable_file::is_temporary(&name) => Some(Form::File),
                form => form,
            };
            let found = match fs::symlink_metadata(&path) {
                // A temporary file of another process may be renamed meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && form.is_some() => {
                    continue;
                }
                other => other.ok().map(|metadata| metadata.file_type()),
            };
            let fits = match form {
                Some(Form::File) => found.is_some_and(|found| found.is_file()),
                Some(Form::Folder) => found.is_some_and(|found| found.is_dir()),
                None => false,
            };
            if !fits {
                return foreign(path);
            }
        }
        Ok(())
    }
}

/// Why a directory is not used as a workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// Something stands there that Wharf did not make.
    #[error("{} is not empty and not a workspace", directory.display())]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// What stands there.
        path: PathBuf,
    },
    /// There is no task to go on with.
    #[error("{} holds no task", directory.display())]
    NoTask {
        /// The directory.
        directory: PathBuf,
        /// What is missing.
        why: &'static str,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Fault for WorkspaceError {
    fn facts(&self) -> Facts {
        match self {
            Self::Foreign { .. } => Facts::new(
                "directory-foreign",
                Kind::InvalidInput,
                "choose a directory that is empty or does not exist yet; nothing was written",
            ),
            Self::NoTask { .. } => Facts::new(
                "no-task",
                Kind::InvalidInput,
                "start a task there first, or name the directory in which it was started",
            ),
            Self::File(error) => error.facts(),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Foreign { path, .. } => Some(format!("{} stands there", path.display())),
            Self::NoTask { why, .. } => Some((*why).to_owned()),
            Self::File(error) => error.why(),
        }
    }
}

enum Form {
    File,
    Folder,
}

/// A database, or what SQLite keeps beside one.
fn is_database_file(name: &str) -> bool {
    [BUSINESS, MEMORY].iter().any(|database| {
        name.strip_prefix(database)
            .is_some_and(|rest| ["", "-wal", "-shm", "-journal"].contains(&rest))
    })
}
