//! The memory inside a transaction of the journal: no commit of its own.

use rusqlite::Connection;

use super::{
    super::memory_database::MemoryDatabase,
    calls::Calls,
    checks::{self, Checked},
};
use crate::{
    core::ports::memories::{
        Hit, Memories, Memory, MemoryFields, MemoryFilter, MemoryId, MemoryPage, MemoryPatch, Page,
    },
    words::error::Error,
};

/// The memory on the connection of an open write transaction. Each change is whole or not there, even if whoever it is lent to goes
/// on after an error; whether it stays is decided by the transaction.
pub(in crate::technologies) struct LentMemories<'t> {
    database: &'t MemoryDatabase,
    connection: &'t Connection,
}

impl<'t> LentMemories<'t> {
    pub(in crate::technologies) fn new(
        database: &'t MemoryDatabase,
        connection: &'t Connection,
    ) -> Self {
        Self {
            database,
            connection,
        }
    }

    fn calls(&self) -> Calls<'t> {
        Calls::new(self.database, self.connection)
    }

    fn writing<R>(&self, write: impl FnOnce(&Calls<'t>) -> Result<R, Error>) -> Result<R, Error> {
        self.run("SAVEPOINT memory")?;
        let result = write(&self.calls());
        if result.is_err() && !self.connection.is_autocommit() {
            self.run("ROLLBACK TO memory")?;
        }
        if !self.connection.is_autocommit() {
            self.run("RELEASE memory")?;
        }
        result
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(()))
            .map_err(|e| self.database.error(e))?;
        Ok(())
    }
}

impl Memories for LentMemories<'_> {
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
        self.calls().get(id)
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
        self.calls().query(filter, page)
    }

    fn search(&self, text: &str, scope: Option<&str>, limit: u32) -> Result<Vec<Hit>, Error> {
        checks::search(text, limit)?;
        self.calls().search(text, scope, limit)
    }

    fn touch(&self, ids: &[MemoryId]) -> Result<u64, Error> {
        checks::touched(ids)?;
        self.writing(|calls| calls.touch(ids))
    }
}
