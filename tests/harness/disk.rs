//! What is left of a folder when the power is lost: what was synced, and of the rest whatever the disk had happened to write.
//!
//! A file's bytes are kept apart from its names. A sync of a file makes its bytes durable, a sync of a folder the names in
//! it: what was changed before the sync was asked for. All else may be lost, each change on its own: writes, lengths and names in
//! any mixture.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::trace::{self, Change};

/// A folder, as it is seen and as it is certain to survive.
#[derive(Debug, Clone)]
pub struct Disk {
    files: Vec<Inode>,
    seen: Names,
    durable: Names,
    /// Changes of names that no sync of the folder that each is in has made durable, by their numbers.
    names: Vec<(usize, Renaming)>,
    /// So many changes were made.
    made: usize,
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
    unsynced: Vec<(usize, Change)>,
}

/// In one folder: a name that now means something else, or nothing.
#[derive(Debug, Clone)]
struct Renaming {
    removed: Option<PathBuf>,
    added: Option<(PathBuf, Entry)>,
}

/// Says of so many unsynced changes of one file, or of names, which are lost; the oldest comes first.
pub type Loses<'a> = &'a mut dyn FnMut(usize) -> Vec<bool>;

/// Nothing is left that was not synced.
pub fn all(unsynced: usize) -> Vec<bool> {
    vec![true; unsynced]
}

impl Disk {
    /// An empty folder, which itself is durable. All paths are relative to it.
    pub fn empty() -> Self {
        let top = Names::from([(PathBuf::new(), Entry::Folder)]);
        Self {
            files: Vec::new(),
            seen: top.clone(),
            durable: top,
            names: Vec::new(),
            made: 0,
        }
    }

    /// A folder in which everything is durable, as it is now; the index of a log is none of it.
    pub fn of(folder: &Path) -> Self {
        let mut disk = Self::empty();
        disk.take(folder, Path::new(""));
        disk.durable.clone_from(&disk.seen);
        disk.names.clear();
        disk
    }

    fn take(&mut self, top: &Path, below: &Path) {
        for entry in fs::read_dir(top.join(below)).unwrap() {
            let path = below.join(entry.unwrap().file_name());
            if top.join(&path).is_dir() {
                self.name(None, Some((path.clone(), Entry::Folder)));
                self.take(top, &path);
            } else if !trace::is_index(&path) {
                let bytes = fs::read(top.join(&path)).unwrap();
                self.files.push(Inode {
                    seen: bytes.clone(),
                    durable: bytes,
                    unsynced: Vec::new(),
                });
                self.name(None, Some((path, Entry::File(self.files.len() - 1))));
            }
        }
    }

    /// One change more.
    pub fn apply(&mut self, change: &Change) {
        let number = self.made;
        match change {
            // Another thread was faster.
            Change::Create(path) if self.seen.contains_key(path) => {}
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
                    file.unsynced.push((number, change.clone()));
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
            Change::Sync { path, covers } => match self.seen.get(path) {
                Some(Entry::File(at)) => self.files[*at].sync(*covers),
                _ => self.sync_names(path, *covers),
            },
        }
        self.made += 1;
    }

    /// The folder after a power loss. Without its parents no file is left, whatever was written to it.
    pub fn after_power_loss(&self, loses: Loses<'_>) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut names = self.durable.clone();
        for ((_, renaming), lost) in self.names.iter().zip(loses(self.names.len())) {
            if !lost {
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
        self.names.push((self.made, renaming));
    }

    fn sync_names(&mut self, folder: &Path, covers: usize) {
        let durable = &mut self.durable;
        self.names.retain(|(number, renaming)| {
            let is_synced = *number < covers && renaming.folder() == Some(folder);
            if is_synced {
                renaming.apply(durable);
            }
            !is_synced
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
    fn sync(&mut self, covers: usize) {
        let synced = self.unsynced.partition_point(|(made, _)| *made < covers);
        for (_, change) in self.unsynced.drain(..synced) {
            write(&mut self.durable, &change);
        }
    }

    fn after_power_loss(&self, loses: Loses<'_>) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for ((_, change), lost) in self.unsynced.iter().zip(loses(self.unsynced.len())) {
            if !lost {
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
