//! What is left of a folder when the power is lost: what was synced, and of the rest whatever the disk had happened to write.
//!
//! A file's bytes are kept apart from its names. A sync of a file makes its bytes durable, a sync of a folder the names in
//! it. What was changed since may be lost, each change on its own: writes, lengths and names in any mixture.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::trace::Change;

/// A folder, as it is seen and as it is certain to survive.
#[derive(Debug, Clone)]
pub struct Disk {
    files: Vec<Inode>,
    seen: Names,
    durable: Names,
    /// Changes of names since the last sync of the folder that each is in.
    names: Vec<Renaming>,
}

type Names = BTreeMap<PathBuf, Entry>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Folder,
    File(usize),
}

#[derive(Debug, Clone, Default)]
struct Inode {
    seen: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

/// In one folder: a name that now means something else, or nothing.
#[derive(Debug, Clone)]
struct Renaming {
    removed: Option<PathBuf>,
    added: Option<(PathBuf, Entry)>,
}

/// Decides for each unsynced change whether it is lost.
pub type Loses<'a> = &'a mut dyn FnMut() -> bool;

impl Disk {
    /// An empty folder, which itself is durable. All paths are relative to it.
    pub fn empty() -> Self {
        let top = Names::from([(PathBuf::new(), Entry::Folder)]);
        Self {
            files: Vec::new(),
            seen: top.clone(),
            durable: top,
            names: Vec::new(),
        }
    }

    /// One change more.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(path) => {
                self.files.push(Inode::default());
                self.name(
                    None,
                    Some((path.clone(), Entry::File(self.files.len() - 1))),
                );
            }
            Change::Mkdir(path) => self.name(None, Some((path.clone(), Entry::Folder))),
            Change::Write { path, .. } | Change::Truncate { path, .. } => {
                if let Some(file) = self.file(path) {
                    write(&mut file.seen, change);
                    file.unsynced.push(change.clone());
                }
            }
            Change::Rename { from, to } => {
                let entry = *self.seen.get(from).expect("what is renamed is there");
                assert!(matches!(entry, Entry::File(_)), "folders are not renamed");
                self.name(Some(from.clone()), Some((to.clone(), entry)));
            }
            Change::Unlink(path) => {
                if self.seen.contains_key(path) {
                    self.name(Some(path.clone()), None);
                }
            }
            Change::Sync(path) => match self.seen.get(path) {
                Some(Entry::File(at)) => {
                    let file = &mut self.files[*at];
                    file.durable.clone_from(&file.seen);
                    file.unsynced.clear();
                }
                _ => self.sync_names(path),
            },
        }
    }

    /// The folder after a power loss. Without its parents no file is left, whatever was written to it.
    pub fn after_power_loss(&self, loses: Loses<'_>) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut names = self.durable.clone();
        for renaming in &self.names {
            if !loses() {
                renaming.apply(&mut names);
            }
        }
        let mut bytes: Vec<Option<Vec<u8>>> = vec![None; self.files.len()];
        let mut left = BTreeMap::new();
        let folders: BTreeSet<_> = names
            .iter()
            .filter(|(_, entry)| **entry == Entry::Folder)
            .map(|(path, _)| path.clone())
            .collect();
        let whole = |path: &Path| {
            path.ancestors()
                .skip(1)
                .all(|above| folders.contains(above))
        };
        for (path, entry) in names {
            if !whole(&path) {
                continue;
            }
            let content = match entry {
                Entry::Folder => None,
                Entry::File(at) => Some(
                    bytes[at]
                        .get_or_insert_with(|| self.files[at].after_power_loss(loses))
                        .clone(),
                ),
            };
            left.insert(path, content);
        }
        left
    }

    fn file(&mut self, path: &Path) -> Option<&mut Inode> {
        match self.seen.get(path) {
            Some(Entry::File(at)) => Some(&mut self.files[*at]),
            _ => None,
        }
    }

    fn name(&mut self, removed: Option<PathBuf>, added: Option<(PathBuf, Entry)>) {
        let renaming = Renaming { removed, added };
        renaming.apply(&mut self.seen);
        self.names.push(renaming);
    }

    fn sync_names(&mut self, folder: &Path) {
        let durable = &mut self.durable;
        self.names.retain(|renaming| {
            let is_here = renaming.folder() == Some(folder);
            if is_here {
                renaming.apply(durable);
            }
            !is_here
        });
    }
}

impl Renaming {
    fn apply(&self, names: &mut Names) {
        if let Some(removed) = &self.removed {
            names.remove(removed);
        }
        if let Some((added, entry)) = &self.added {
            names.insert(added.clone(), *entry);
        }
    }

    fn folder(&self) -> Option<&Path> {
        let added = self.added.as_ref().map(|(path, _)| path);
        added.or(self.removed.as_ref())?.parent()
    }
}

impl Inode {
    fn after_power_loss(&self, loses: Loses<'_>) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for change in &self.unsynced {
            if !loses() {
                write(&mut bytes, change);
            }
        }
        bytes
    }
}

fn write(file: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes, .. } => {
            let at = usize::try_from(*at).unwrap();
            let end = at + bytes.len();
            if file.len() < end {
                file.resize(end, 0);
            }
            file[at..end].copy_from_slice(bytes);
        }
        Change::Truncate { length, .. } => file.resize(usize::try_from(*length).unwrap(), 0),
        _ => unreachable!("only what changes bytes is kept with a file"),
    }
}
