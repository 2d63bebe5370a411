//! What each call does on a connection: versions, times, and what the index is told. Neither begins a transaction nor ends one.

use rusqlite::Connection;

use super::{
    super::memory_database::MemoryDatabase, checks::Checked, error::MemoriesError, rows::Rows,
    search, text,
};
use crate::{
    core::ports::memories::{
        Hit, Memory, MemoryFields, MemoryFilter, MemoryId, MemoryPage, MemoryPatch, Page,
    },
    words::{error::Error, id::unique_at},
};

/// The calls of [`Memories`](crate::core::ports::memories::Memories), on an open transaction or a reading connection.
pub(super) struct Calls<'c> {
    database: &'c MemoryDatabase,
    rows: Rows<'c>,
}

impl<'c> Calls<'c> {
    pub(super) fn new(database: &'c MemoryDatabase, connection: &'c Connection) -> Self {
        Self {
            database,
            rows: Rows::new(database, connection),
        }
    }

    pub(super) fn add(&self, object: &Checked<'_>) -> Result<Memory, Error> {
        let id = MemoryId::try_from(unique_at(self.database.now()))
            .expect("a UUID has digits, letters and dashes");
        self.upsert(&id, object, Some(0))
    }

    pub(super) fn upsert(
        &self,
        id: &MemoryId,
        object: &Checked<'_>,
        expected: Option<u64>,
    ) -> Result<Memory, Error> {
        let standing = self.rows.standing(id)?;
        let stored = standing.as_ref().map_or(0, |standing| standing.version);
        require(id, stored, expected)?;
        let now = self.database.now();
        let memory = Memory {
            id: id.clone(),
            fields: object.fields().clone(),
            created_at: standing.as_ref().map_or(now, |row| row.created_at),
            updated_at: now,
            last_used_at: standing.as_ref().and_then(|row| row.last_used_at),
            usage_count: standing.as_ref().map_or(0, |row| row.usage_count),
            version: stored + 1,
        };
        let number = match standing {
            Some(standing) => {
                self.rows.replace(&standing, &memory, object)?;
                standing.number
            }
            None => self.rows.insert(&memory, object)?,
        };
        self.rows
            .index(number, &text::Indexed::of(&memory.fields))?;
        Ok(memory)
    }

    pub(super) fn get(&self, id: &MemoryId) -> Result<Option<Memory>, Error> {
        Ok(self.rows.get(id)?)
    }

    pub(super) fn update(
        &self,
        id: &MemoryId,
        patch: &MemoryPatch,
        expected: Option<u64>,
    ) -> Result<Memory, Error> {
        let Some(memory) = self.rows.get(id)? else {
            return Err(MemoriesError::Unknown { id: id.clone() }.into());
        };
        require(id, memory.version, expected)?;
        let fields = patched(memory.fields, patch.clone());
        self.upsert(id, &Checked::new(&fields)?, None)
    }

    pub(super) fn delete(&self, id: &MemoryId, expected: Option<u64>) -> Result<bool, Error> {
        let Some(standing) = self.rows.standing(id)? else {
            return Ok(false);
        };
        require(id, standing.version, expected)?;
        self.rows.delete(id, &standing)?;
        Ok(true)
    }

    pub(super) fn query(&self, filter: &MemoryFilter, page: &Page) -> Result<MemoryPage, Error> {
        // One more tells whether there is another page.
        let mut objects = self
            .rows
            .page(filter, page.after.as_ref(), page.limit + 1)?;
        let more = objects.len() > page.limit as usize;
        objects.truncate(page.limit as usize);
        let last = objects.last().map(|object| object.id.clone());
        Ok(MemoryPage {
            objects,
            next: last.filter(|_| more),
        })
    }

    pub(super) fn search(
        &self,
        text: &str,
        scope: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Hit>, Error> {
        match text::sought(text, scope) {
            Some(sought) => Ok(
                search::hits(&self.rows, &sought, limit)?.ok_or(MemoriesError::SearchTooLong)?
            ),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn touch(&self, ids: &[MemoryId]) -> Result<u64, Error> {
        let now = self.database.now();
        let mut used = 0;
        for id in ids {
            used += self.rows.touch(id, now)?;
        }
        Ok(used)
    }
}

fn require(id: &MemoryId, stored: u64, expected: Option<u64>) -> Result<(), MemoriesError> {
    match expected {
        Some(expected) if expected != stored => Err(MemoriesError::Conflict {
            id: id.clone(),
            expected,
            stored,
        }),
        _ => Ok(()),
    }
}

fn patched(fields: MemoryFields, patch: MemoryPatch) -> MemoryFields {
    MemoryFields {
        content: patch.content.unwrap_or(fields.content),
        summary: patch.summary.unwrap_or(fields.summary),
        scope: patch.scope.unwrap_or(fields.scope),
        categories: patch.categories.unwrap_or(fields.categories),
        metadata: patch.metadata.unwrap_or(fields.metadata),
        source: patch.source.unwrap_or(fields.source),
    }
}
