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
    durable_file, durable_folder,
    file_error::{Action, FileError},
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
        durable_folder::create(&workspace.root)?;
        durable_folder::ensure(&workspace.plugins_folder())?;
        durable_folder::ensure(&workspace.tasks_folder())?;
        durable_folder::sync(&workspace.root)?;
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
        let is_folder = |path: &Path| {
            durable_file::type_of(path).map(|found| found.is_some_and(|found| found.is_dir()))
        };
        if !is_folder(&workspace.root)? {
            return no_task("there is no such directory");
        }
        if !is_folder(&workspace.tasks_folder())? {
            return no_task("it is not a workspace: it has no folder of tasks");
        }
        if durable_file::type_of(&workspace.memory_database())?.is_none() {
            return no_task("its preparation did not end: it has no journal");
        }
        Ok(workspace)
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

    /// The folder of the folders of tasks.
    #[must_use]
    pub fn tasks_folder(&self) -> PathBuf {
        self.root.join(TASKS)
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
        let mut tasks = Vec::new();
        for task in names.into_iter().flat_map(TaskId::try_from) {
            if durable_file::type_of(&self.request_file(&task))?.is_some() {
                tasks.push(task);
            }
        }
        Ok(tasks)
    }

    /// Takes the lock of a task that may be new: makes its folder if need be, which [`super::admission`] makes durable.
    ///
    /// # Errors
    /// As [`TaskLock::acquire`]; [`FileError`] if the folder cannot be made.
    pub fn claim(&self, task: &TaskId) -> Result<TaskLock, TaskLockError> {
        let folder = self.task_folder(task);
        durable_folder::ensure(&folder)?;
        TaskLock::acquire(&folder)
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

    fn refuse_foreign(&self) -> Result<(), WorkspaceError> {
        if let Some(file) = self.root.ancestors().find(|path| path.is_file()) {
            return Err(WorkspaceError::Foreign {
                directory: self.root.clone(),
                path: file.into(),
            });
        }
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

#[cfg(test)]
mod tests {
    use super::{super::fixtures::assert_error, *};

    fn task(id: &str) -> TaskId {
        id.parse().unwrap()
    }

    #[test]
    fn the_files_stand_where_users_scripts_look_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let (task, digest) = (task("t1"), Digest::of("x"));
        for (path, name) in [
            (workspace.business_database(), "business.sqlite"),
            (workspace.memory_database(), "memory.sqlite"),
            (
                workspace.component_file(&digest),
                &*format!("plugins/{digest}.wasm"),
            ),
            (workspace.request_file(&task), "tasks/t1/request.json"),
            (workspace.policy_file(&task), "tasks/t1/policy.json"),
            (workspace.faults_file(&task), "tasks/t1/faults.json"),
            (workspace.evidence_folder(&task), "tasks/t1/evidence"),
            (workspace.output_folder(&task), "tasks/t1/output"),
        ] {
            assert_eq!(path, folder.path().join(name));
        }
        assert!(workspace.root().is_absolute());
    }

    #[test]
    fn a_missing_and_an_empty_directory_become_a_workspace() {
        let folder = tempfile::tempdir().unwrap();
        for directory in [folder.path().join("a/b"), folder.path().join("a/c")] {
            Workspace::create(&directory).unwrap();
            Workspace::create(&directory).unwrap();
        }
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        Workspace::create(&empty).unwrap();
        assert_eq!(
            durable_folder::names(&empty).unwrap().unwrap(),
            ["plugins", "tasks"]
        );
    }

    #[test]
    fn a_directory_with_anything_foreign_is_refused_and_nothing_is_written() {
        for foreign in [
            "notes.txt",
            ".git/",
            "business.sqlite.bak",
            "business.sqlite/",
            "memory.sqlite-x",
            "plugins",
            "tasks",
            "plugins/readme.md",
            "plugins/abc.wasm",
            "plugins/sub/",
            "tasks/todo.md",
            "tasks/t1",
            "tasks/a b/",
            "tasks/t1/notes",
            "tasks/t1/request.json/",
            "tasks/t1/evidence",
            ".wharf-x.tmp/",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(foreign);
            if foreign.ends_with('/') {
                fs::create_dir_all(&path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, b"theirs").unwrap();
            }
            let before = listing(folder.path());
            let error = Workspace::create(folder.path()).unwrap_err();
            assert_error(error, "directory-foreign", Kind::InvalidInput);
            assert_eq!(listing(folder.path()), before, "{foreign}");
        }
    }

    #[test]
    fn a_link_to_another_place_is_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, root) = (folder.path().join("e"), folder.path().join("w"));
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&elsewhere, root.join("tasks")).unwrap();
        let error = Workspace::create(&root).unwrap_err();
        assert_error(error, "directory-foreign", Kind::InvalidInput);
    }

    #[test]
    fn a_path_that_is_or_leads_through_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, b"x").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = Workspace::create(&path).unwrap_err();
            assert_error(error, "directory-foreign", Kind::InvalidInput);
            assert_error(
                Workspace::open(&path).unwrap_err(),
                "no-task",
                Kind::InvalidInput,
            );
        }
    }

    #[test]
    fn what_got_as_far_as_a_journal_can_be_opened_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("w");
        let refused = |why: &str| {
            let error = Workspace::open(&root).unwrap_err();
            assert_eq!(error.why().unwrap(), why);
            assert_error(error, "no-task", Kind::InvalidInput);
        };
        refused("there is no such directory");
        fs::create_dir(&root).unwrap();
        refused("it is not a workspace: it has no folder of tasks");
        let workspace = Workspace::create(&root).unwrap();
        refused("its preparation did not end: it has no journal");
        fs::write(workspace.memory_database(), b"").unwrap();
        fs::write(root.join("notes.txt"), b"the operator's own").unwrap();
        let before = listing(&root);
        assert_eq!(Workspace::open(&root).unwrap(), workspace);
        assert_eq!(listing(&root), before);
    }

    #[test]
    fn a_directory_that_cannot_be_looked_into_is_not_taken_for_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let endless = folder.path().join("endless");
        std::os::unix::fs::symlink(&endless, &endless).unwrap();
        let error = Workspace::open(&endless).unwrap_err();
        assert_error(error, "file-io", Kind::Unavailable);
        let error = Workspace::create(&endless).unwrap_err();
        assert_error(error, "file-io", Kind::Unavailable);
        let error = Workspace::create(Path::new("")).unwrap_err();
        assert_error(error, "path-invalid", Kind::InvalidInput);
    }

    #[test]
    fn tasks_are_the_folders_that_hold_a_request() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        assert!(workspace.tasks().unwrap().is_empty());
        for id in ["b", "a", "unfinished"] {
            drop(workspace.claim(&task(id)).unwrap());
        }
        for id in ["b", "a"] {
            fs::write(workspace.request_file(&task(id)), b"{}").unwrap();
        }
        fs::create_dir(workspace.root().join("tasks/no id")).unwrap();
        assert_eq!(workspace.tasks().unwrap(), [task("a"), task("b")]);
    }

    #[test]
    fn a_claimed_task_is_owned_until_it_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let first = workspace.claim(&task("a")).unwrap();
        let _other = workspace.claim(&task("b")).unwrap();
        assert_error(
            workspace.claim(&task("a")).unwrap_err(),
            "task-owned",
            Kind::Conflict,
        );
        drop(first);
        workspace.claim(&task("a")).unwrap();
        fs::remove_dir_all(workspace.tasks_folder()).unwrap();
        assert_error(
            workspace.claim(&task("a")).unwrap_err(),
            "folder-missing",
            Kind::Unavailable,
        );
    }

    #[test]
    fn the_owner_sweeps_what_killed_runs_left_in_its_own_folders() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(folder.path()).unwrap();
        let owner = workspace.claim(&task("a")).unwrap();
        drop(workspace.claim(&task("b")).unwrap());
        for path in ["a/evidence", "a/output", "b/output"] {
            fs::create_dir(workspace.tasks_folder().join(path)).unwrap();
        }
        for path in ["a", "a/evidence", "a/output", "b/output"] {
            let path = workspace.tasks_folder().join(path).join(".wharf-1.tmp");
            fs::write(path, b"").unwrap();
        }
        workspace.sweep(&owner).unwrap();
        let left: Vec<_> = listing(workspace.root())
            .into_iter()
            .filter(|path| path.ends_with(".tmp"))
            .collect();
        assert_eq!(left, ["tasks/b/output/.wharf-1.tmp"]);
    }

    fn listing(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push(name);
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }
}
