//! The memory of a tenant in `memory.sqlite`, with a full-text index.
//!
//! Owns the tables `memories`, `memory_categories` and `memory_words`. Knows nothing of what the objects mean. Made by the host's
//! wiring, called through [`Memories`].
//!
//! # What a search looks at
//!
//! - The summary, and all texts within the content; of these the first 64 KiB (`text::MAX_INDEXED_BYTES`). No keys, numbers or
//!   metadata.
//! - Words are those of FTS5's `unicode61`, without case and diacritics. Each character of Han, Hiragana, Katakana and Hangul is a
//!   word of its own, and what stands together in the text that is searched for must stand together, in that order, in the object.
//! - They are ranked by BM25; a word of the summary counts four times as much as one of the content.
//! - Of more than 1,024 (`search::MAX_CANDIDATES`) objects that hold all the words only those that were first kept last are ranked:
//!   words that nearly every object holds tell little, and ranking all of them takes as long as there are objects.

mod lent;
mod calls;
mod rows;
mod search;
mod text;
mod checks;
mod error;

use std::sync::Arc;

use rusqlite::Connection;

pub use self::error::MemoriesError;
pub(super) use self::lent::LentMemories;
use self::{calls::Calls, checks::Checked};
use super::memory_database::MemoryDatabase;
use crate::{
    core::ports::memories::{
        Hit, Memories, Memory, MemoryFields, MemoryFilter, MemoryId, MemoryPage, MemoryPatch, Page,
    },
    words::error::Error,
};

/// The memory of a tenant: each change is a commit of its own, with a sync; a read costs none. May be shared by any number of threads;
/// several processes may hold the same file.
pub struct SqliteMemories {
    database: Arc<MemoryDatabase>,
}

impl SqliteMemories {
    /// The memory of an open database.
    #[must_use]
    pub fn new(database: Arc<MemoryDatabase>) -> Self {
        Self { database }
    }

    fn reading<R>(&self, read: impl FnOnce(&Calls<'_>) -> Result<R, Error>) -> Result<R, Error> {
        self.database
            .reading(|connection| Ok(read(&self.calls(connection))))?
    }

    fn writing<R>(&self, write: impl FnOnce(&Calls<'_>) -> Result<R, Error>) -> Result<R, Error> {
        let writer = self.database.writer().ok_or(MemoriesError::ReadOnly)?;
        let transaction = writer.begin()?;
        let connection = transaction.connection();
        let before = connection.total_changes();
        let result = write(&self.calls(connection))?;
        // A commit that changes nothing is not synced, and would pass for one that was.
        if connection.total_changes() != before {
            transaction.commit()?;
        }
        Ok(result)
    }

    fn calls<'c>(&'c self, connection: &'c Connection) -> Calls<'c> {
        Calls::new(&self.database, connection)
    }
}

impl Memories for SqliteMemories {
    fn add(&self, object: &MemoryFields) -> Result<Memory, Error> {
        let object = Checked::new(object)?;
        self.writing(|calls| calls.add(&object))
    }

    fn upsert(
        &self,
        id: &MemoryId,
        object: &MemoryFields,
        expected: Option<u64>,
    ) -> Result<Memory, Error> {
        let object = Checked::new(object)?;
        self.writing(|calls| calls.upsert(id, &object, expected))
    }

    fn get(&self, id: &MemoryId) -> Result<Option<Memory>, Error> {
        self.reading(|calls| calls.get(id))
    }

    fn update(
        &self,
        id: &MemoryId,
        patch: &MemoryPatch,
        expected: Option<u64>,
    ) -> Result<Memory, Error> {
        self.writing(|calls| calls.update(id, patch, expected))
    }

    fn delete(&self, id: &MemoryId, expected: Option<u64>) -> Result<bool, Error> {
        self.writing(|calls| calls.delete(id, expected))
    }

    fn query(&self, filter: &MemoryFilter, page: &Page) -> Result<MemoryPage, Error> {
        checks::page(page)?;
        self.reading(|calls| calls.query(filter, page))
    }

    fn search(&self, text: &str, scope: Option<&str>, limit: u32) -> Result<Vec<Hit>, Error> {
        checks::search(text, limit)?;
        self.reading(|calls| calls.search(text, scope, limit))
    }

    fn touch(&self, ids: &[MemoryId]) -> Result<u64, Error> {
        checks::touched(ids)?;
        self.writing(|calls| calls.touch(ids))
    }
}

#[cfg(test)]
mod tests;
