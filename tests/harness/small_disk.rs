//! A file system of its own in memory, small enough to be filled.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::skipped;

/// What it is filled with at once.
const BLOCK: [u8; 4096] = [0; 4096];

/// Unmounted when it is dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// None, which the summary of the tests counts as skipped: this user may not mount.
    pub fn mount(mebibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"]);
        match mount.arg(folder.path()).output() {
            Ok(mounted) if mounted.status.success() => Some(Self { folder }),
            refused => {
                skipped(&format!("no small disk can be mounted: {refused:?}"));
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills it, but for so many blocks of 4096 bytes.
    pub fn leave(&self, blocks: u64) {
        let mut ballast = File::create(self.ballast()).unwrap();
        loop {
            match ballast.write_all(&BLOCK) {
                Ok(()) => (),
                Err(full) if full.kind() == ErrorKind::StorageFull => break,
                Err(other) => panic!("{other}"),
            }
        }
        let block = BLOCK.len() as u64;
        let whole = ballast.metadata().unwrap().len() / block;
        ballast.set_len((whole - blocks) * block).unwrap();
    }

    pub fn make_room(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Where something still uses it, it goes with its last user.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .status();
    }
}
