//! Whether a database is full because it may not grow.

use std::path::Path;

use rusqlite::Connection;

use super::BusinessError;
use crate::sqlite::{open, room};

/// What a database has, and what it may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Full {
    used_bytes: u64,
    allowed_bytes: u64,
}

impl Full {
    /// After SQLite has said that something is full: none where it is the disk.
    pub(super) fn of(connection: &Connection, path: &Path, allowed_bytes: u64) -> Option<Self> {
        room::is_left(path).then(|| Self {
            used_bytes: open::size(connection).unwrap_or_default(),
            allowed_bytes,
        })
    }
}

impl From<Full> for BusinessError {
    fn from(full: Full) -> Self {
        Self::WorkspaceFull {
            used_bytes: full.used_bytes,
            allowed_bytes: full.allowed_bytes,
        }
    }
}
