//! The program as somebody whom the file system can refuse: the superuser of a container is refused nothing.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    sync::LazyLock,
};

use tempfile::TempDir;

use super::{Ran, Wharf, Workspace, built, command};

/// `nobody`, wherever there is one.
const NOBODY: u32 = 65534;

/// A home that an unprivileged user may use, with the program and a compile cache.
struct Home {
    folder: TempDir,
    is_root: bool,
}

static HOME: LazyLock<Home> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let is_root = fs::metadata(folder.path()).unwrap().uid() == 0;
    let program = folder.path().join("wharf");
    if fs::hard_link(built::program(), &program).is_err() {
        fs::copy(built::program(), &program).unwrap();
    }
    let home = Home { folder, is_root };
    home.hand_over(home.folder.path());
    home
});

impl Home {
    fn hand_over(&self, path: &Path) {
        if self.is_root {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

/// Runs `wharf SUBCOMMAND --dir DIR` as a user without privileges.
pub fn run(subcommand: &str, workspace: &Workspace) -> Ran {
    let home = HOME.folder.path();
    let wharf = command::wharf_at(&home.join("wharf"), subcommand)
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .dir(workspace.path());
    let mut command = wharf.into_command();
    if HOME.is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    Wharf::from(command).run()
}

/// Gives a workspace, and the folder it stands in, to that user.
pub fn hand_over(workspace: &Workspace) {
    fn all(path: &Path) {
        HOME.hand_over(path);
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                all(&entry.unwrap().path());
            }
        }
    }
    all(workspace.path().parent().unwrap());
}

/// Takes rights away until it is dropped.
pub struct Mode<'a> {
    path: &'a Path,
    before: u32,
}

impl<'a> Mode<'a> {
    pub fn set(path: &'a Path, mode: u32) -> Self {
        let before = fs::metadata(path).unwrap().permissions().mode();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        Self { path, before }
    }
}

impl Drop for Mode<'_> {
    fn drop(&mut self) {
        // What SQLite has made beside a database has that one's rights.
        for end in ["", "-wal", "-shm"] {
            let mut path = self.path.as_os_str().to_owned();
            path.push(end);
            if fs::exists(&path).unwrap() {
                fs::set_permissions(&path, Permissions::from_mode(self.before)).unwrap();
            }
        }
    }
}
