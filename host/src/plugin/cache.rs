//! Compiled components on disk, so that a restart does not compile them again.
//!
//! Owns one directory. An entry is a hint: anything but exactly what this host wrote for exactly this component, engine
//! and release is a miss. Never fails a load: what goes wrong is logged, and the component is compiled. Called by
//! `engine.rs`, and by the doctor.
//!
//! A compiled component is machine code that runs with the host's own rights. The checksum in an entry finds accidents,
//! not forgery: what keeps others from planting code is that the directory and its entries belong to the host's user and
//! nobody else can write there. So it is created 0700, and a directory or entry that is writable for group or others, or
//! that belongs to somebody else, is not used.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use wasmtime::{Engine, component::Component};

use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
};

/// A directory of compiled components.
#[derive(Debug, Clone)]
pub struct CompileCache {
    folder: PathBuf,
    owner: Owner,
}

impl CompileCache {
    /// Opens the cache in `folder`, and creates the folder where it is missing.
    ///
    /// # Errors
    /// The folder cannot be created or written; it belongs to somebody else; others may write there.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, CacheError> {
        let folder = folder.into();
        let unusable = |source| CacheError::Unusable {
            folder: folder.clone(),
            source,
        };
        create_private(&folder).map_err(unusable)?;
        // A file that was just made belongs to whoever this process is.
        let probe = tempfile::tempfile_in(&folder).map_err(unusable)?;
        let owner = Owner::of(&probe.metadata().map_err(unusable)?);
        let cache = Self { folder, owner };
        cache.check_folder()?;
        Ok(cache)
    }

    /// The component, if a sound entry is there.
    pub(super) fn load(&self, engine: &Engine, digest: Digest) -> Option<Component> {
        let key = key(engine, digest);
        let path = self.path(key);
        match self.read(&path, key) {
            Ok(artifact) => deserialize(engine, &artifact)
                .inspect_err(|error| self.missed(&path, &format!("{error:#}")))
                .ok(),
            Err(Miss::Absent) => None,
            Err(Miss::Unsound(why)) => {
                self.missed(&path, &why);
                None
            }
        }
    }

    /// Writes an entry, in place of whatever is there.
    pub(super) fn store(&self, engine: &Engine, digest: Digest, component: &Component) {
        let key = key(engine, digest);
        let path = self.path(key);
        let written = component
            .serialize()
            .map_err(io::Error::other)
            .and_then(|artifact| self.write(&path, key, &artifact));
        if let Err(error) = written {
            tracing::warn!(path = %path.display(), %error, "the compiled component was not cached");
        }
    }

    /// How many entries there are, and their bytes. What cannot be seen is not counted.
    pub(super) fn content(&self) -> (usize, u64) {
        let sizes = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == ENTRY))
            .filter_map(|entry| entry.metadata().ok())
            .map(|entry| entry.len());
        sizes.fold((0, 0), |(entries, bytes), size| (entries + 1, bytes + size))
    }

    fn path(&self, key: Digest) -> PathBuf {
        self.folder.join(format!("{key}.{ENTRY}"))
    }

    fn missed(&self, path: &Path, why: &str) {
        tracing::warn!(path = %path.display(), why, "the cached component is not used");
    }

    fn read(&self, path: &Path, key: Digest) -> Result<Vec<u8>, Miss> {
        let unsound = |error: io::Error| Miss::Unsound(error.to_string());
        self.check_folder()
            .map_err(|error| Miss::Unsound(error.to_string()))?;
        let mut file = match fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Miss::Absent),
            Err(error) => return Err(unsound(error)),
        };
        if !self
            .owner
            .alone_may_write(&file.metadata().map_err(unsound)?)
        {
            return Err(Miss::Unsound(
                "somebody else could have written it".to_owned(),
            ));
        }
        let mut entry = Vec::new();
        file.read_to_end(&mut entry).map_err(unsound)?;
        let artifact = entry
            .split_off_checked(HEADER)
            .ok_or_else(|| Miss::Unsound("it is cut".to_owned()))?;
        if entry != header(key, &artifact) {
            return Err(Miss::Unsound("it is not what was written".to_owned()));
        }
        Ok(artifact)
    }

    fn write(&self, path: &Path, key: Digest, artifact: &[u8]) -> io::Result<()> {
        self.check_folder().map_err(io::Error::other)?;
        // Created 0600.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&header(key, artifact))?;
        file.write_all(artifact)?;
        file.persist(path)?;
        Ok(())
    }

    fn check_folder(&self) -> Result<(), CacheError> {
        let found = fs::symlink_metadata(&self.folder).map_err(|source| CacheError::Unusable {
            folder: self.folder.clone(),
            source,
        })?;
        if found.is_dir() && self.owner.alone_may_write(&found) {
            Ok(())
        } else {
            Err(CacheError::Insecure {
                folder: self.folder.clone(),
            })
        }
    }
}

enum Miss {
    Absent,
    Unsound(String),
}

trait SplitOffChecked: Sized {
    /// Splits off what follows the first `at` bytes, if there are as many.
    fn split_off_checked(&mut self, at: usize) -> Option<Self>;
}

impl SplitOffChecked for Vec<u8> {
    fn split_off_checked(&mut self, at: usize) -> Option<Self> {
        (self.len() >= at).then(|| self.split_off(at))
    }
}

/// How the name of an entry ends.
const ENTRY: &str = "cwasm";

const MAGIC: &[u8] = b"wharf compiled component 1\n";
const HEADER: usize = MAGIC.len() + 64 + 64;

/// Says for what an entry was compiled, and what its bytes are.
fn header(key: Digest, artifact: &[u8]) -> Vec<u8> {
    let checksum = Digest::of_parts(&[key.to_string().as_bytes(), artifact]);
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(key.to_string().as_bytes());
    header.extend_from_slice(checksum.to_string().as_bytes());
    header
}

/// Names an entry: the component, and everything of the engine that its machine code depends on.
fn key(engine: &Engine, digest: Digest) -> Digest {
    use std::hash::{Hash, Hasher};

    /// Keeps what is hashed, for a hash that stays the same from one release of Rust to the next.
    struct Keep(Vec<u8>);
    impl Hasher for Keep {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut settings = Keep(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut settings);
    Digest::of_parts(&[
        digest.to_string().as_bytes(),
        &settings.0,
        WASMTIME.as_bytes(),
    ])
}

/// The release that `Cargo.toml` pins; a test compares the two.
pub(super) const WASMTIME: &str = "48.0.8";

#[expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; there is no safe way to load it"
)]
fn deserialize(engine: &Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes are those that `Component::serialize` gave this host's user: they come from a file in a folder
    // that only this user can write, itself written by this user only, and their checksum, over the very settings of
    // this engine, was compared before. wasmtime checks version and settings once more.
    unsafe { Component::deserialize(engine, artifact) }
}

/// Who this process is, as owner of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner(u32);

#[cfg(unix)]
impl Owner {
    fn of(file: &fs::Metadata) -> Self {
        Self(std::os::unix::fs::MetadataExt::uid(file))
    }

    fn alone_may_write(self, file: &fs::Metadata) -> bool {
        Self::of(file) == self && std::os::unix::fs::MetadataExt::mode(file) & 0o022 == 0
    }
}

#[cfg(not(unix))]
impl Owner {
    fn of(_: &fs::Metadata) -> Self {
        Self(0)
    }

    /// Elsewhere nobody can tell from the file, so the cache is not used.
    fn alone_may_write(self, _: &fs::Metadata) -> bool {
        false
    }
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// It cannot be read or written.
    #[error("the compile cache {} cannot be used", .folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else could put code there.
    #[error("the compile cache {} can be written by others, or belongs to somebody else", .folder.display())]
    Insecure {
        /// The folder.
        folder: PathBuf,
    },
}

impl Fault for CacheError {
    fn facts(&self) -> Facts {
        match self {
            Self::Unusable { .. } => Facts::new(
                "plugin-cache-unusable",
                Kind::Unavailable,
                "name a folder that can be created and written, or do without a cache",
            ),
            Self::Insecure { .. } => Facts::new(
                "plugin-cache-insecure",
                Kind::Denied,
                "take the folder from everybody else (chmod 700, chown), or name another; it holds machine code",
            ),
        }
    }
}
