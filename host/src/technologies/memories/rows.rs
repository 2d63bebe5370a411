//! The rows of the tables on one connection: all SQL but that of the search.

use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, Params, Row, params};

use super::{super::memory_database::MemoryDatabase, checks::Checked, text::Indexed};
use crate::{
    core::ports::memories::{Memory, MemoryFields, MemoryFilter, MemoryId},
    sqlite::error::SqliteError,
};

/// The columns that [`memory`] reads, in its order, and what follows them in a statement.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT memories.id, content, summary, memories.scope, categories, metadata, source, created_at, updated_at, \
             last_used_at, usage_count, version ",
            $rest
        )
    };
}
pub(super) use select;

/// The tables.
pub(super) struct Rows<'c> {
    database: &'c MemoryDatabase,
    connection: &'c Connection,
}

/// What a change needs to know of the row that it changes.
pub(super) struct Standing {
    pub(super) number: i64,
    pub(super) version: u64,
    pub(super) created_at: Timestamp,
    pub(super) last_used_at: Option<Timestamp>,
    pub(super) usage_count: u64,
    scope: Option<String>,
    categories: String,
}

impl<'c> Rows<'c> {
    pub(super) fn new(database: &'c MemoryDatabase, connection: &'c Connection) -> Self {
        Self {
            database,
            connection,
        }
    }

    pub(super) fn get(&self, id: &MemoryId) -> Result<Option<Memory>, SqliteError> {
        let sql = select!("FROM memories WHERE id = ?1");
        Ok(self.all(sql, [id.as_str()], memory)?.pop())
    }

    pub(super) fn standing(&self, id: &MemoryId) -> Result<Option<Standing>, SqliteError> {
        let sql = "SELECT number, version, created_at, last_used_at, usage_count, scope, categories FROM memories WHERE id = ?1";
        Ok(self.all(sql, [id.as_str()], standing)?.pop())
    }

    /// Yields the row's number.
    pub(super) fn insert(&self, memory: &Memory, object: &Checked<'_>) -> Result<i64, SqliteError> {
        let fields = &memory.fields;
        self.run(
            "INSERT INTO memories (id, content, summary, scope, categories, metadata, source, created_at, updated_at, usage_count, version)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                memory.id.as_str(),
                object.content(),
                fields.summary,
                fields.scope,
                object.categories(),
                object.metadata(),
                fields.source,
                memory.created_at.to_string(),
                memory.updated_at.to_string(),
                memory.usage_count.cast_signed(),
                memory.version.cast_signed(),
            ],
        )?;
        let number = self.connection.last_insert_rowid();
        self.file(memory)?;
        Ok(number)
    }

    /// Its number, the time of its creation and its use stay.
    pub(super) fn replace(
        &self,
        standing: &Standing,
        memory: &Memory,
        object: &Checked<'_>,
    ) -> Result<(), SqliteError> {
        let fields = &memory.fields;
        self.run(
            "UPDATE memories SET content = ?2, summary = ?3, scope = ?4, categories = ?5, metadata = ?6, source = ?7, updated_at = ?8,
             version = ?9 WHERE number = ?1",
            params![
                standing.number,
                object.content(),
                fields.summary,
                fields.scope,
                object.categories(),
                object.metadata(),
                fields.source,
                memory.updated_at.to_string(),
                memory.version.cast_signed(),
            ],
        )?;
        if standing.categories == object.categories() && standing.scope == fields.scope {
            return Ok(());
        }
        self.unfile(&memory.id, standing)?;
        self.file(memory)
    }

    pub(super) fn delete(&self, id: &MemoryId, standing: &Standing) -> Result<(), SqliteError> {
        self.unfile(id, standing)?;
        let number = [standing.number];
        self.run("DELETE FROM memory_words WHERE rowid = ?1", number)?;
        self.run("DELETE FROM memories WHERE number = ?1", number)?;
        Ok(())
    }

    /// The first rows behind an id.
    pub(super) fn page(
        &self,
        filter: &MemoryFilter,
        after: Option<&MemoryId>,
        limit: u32,
    ) -> Result<Vec<Memory>, SqliteError> {
        // No id is empty.
        let after = after.map_or("", MemoryId::as_str);
        match (&filter.scope, &filter.category) {
            (None, None) => self.all(PAGE, params![after, limit], memory),
            (Some(scope), None) => self.all(PAGE_OF_SCOPE, params![after, limit, scope], memory),
            (None, Some(category)) => {
                self.all(PAGE_OF_CATEGORY, params![after, limit, category], memory)
            }
            (Some(scope), Some(category)) => {
                self.all(PAGE_OF_BOTH, params![after, limit, scope, category], memory)
            }
        }
    }

    /// How many there were.
    pub(super) fn touch(&self, id: &MemoryId, now: Timestamp) -> Result<u64, SqliteError> {
        let changed = self.run(
            "UPDATE memories SET usage_count = usage_count + 1, last_used_at = ?2 WHERE id = ?1",
            (id.as_str(), now.to_string()),
        )?;
        Ok(changed as u64)
    }

    /// Puts the words of a row into the index, in place of those that were there.
    pub(super) fn index(&self, number: i64, words: &Indexed) -> Result<(), SqliteError> {
        self.run(
            "INSERT OR REPLACE INTO memory_words (rowid, scope, summary, content) VALUES (?1, ?2, ?3, ?4)",
            (number, &words.scope, &words.summary, &words.content),
        )?;
        Ok(())
    }

    /// All rows that a statement yields. `read`: none where a value has not the form that it was written in.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl Fn(&Row<'_>) -> Option<T>,
    ) -> Result<Vec<T>, SqliteError> {
        let rows: Result<Vec<Option<T>>, _> = self.prepare(sql).and_then(|mut statement| {
            let rows = statement.query_map(params, |row| Ok(read(row)))?;
            rows.collect()
        });
        let rows = rows.map_err(|e| self.database.error(e))?;
        let malformed = || self.database.malformed("an object of the memory");
        rows.into_iter()
            .map(|row| row.ok_or_else(malformed))
            .collect()
    }

    fn file(&self, memory: &Memory) -> Result<(), SqliteError> {
        for category in &memory.fields.categories {
            self.run(
                "INSERT INTO memory_categories (category, id, scope) VALUES (?1, ?2, ?3)",
                (category, memory.id.as_str(), &memory.fields.scope),
            )?;
        }
        Ok(())
    }

    fn unfile(&self, id: &MemoryId, standing: &Standing) -> Result<(), SqliteError> {
        self.run(
            "DELETE FROM memory_categories WHERE id = ?1 AND category IN (SELECT value FROM json_each(?2))",
            (id.as_str(), &standing.categories),
        )?;
        Ok(())
    }

    fn run(&self, sql: &str, params: impl Params) -> Result<usize, SqliteError> {
        self.prepare(sql)
            .and_then(|mut statement| statement.execute(params))
            .map_err(|e| self.database.error(e))
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'c>, rusqlite::Error> {
        self.connection.prepare_cached(sql)
    }
}

const PAGE: &str = select!("FROM memories WHERE id > ?1 ORDER BY id LIMIT ?2");
const PAGE_OF_SCOPE: &str =
    select!("FROM memories WHERE scope = ?3 AND id > ?1 ORDER BY id LIMIT ?2");
// From the categories to the objects, never the other way round.
const PAGE_OF_CATEGORY: &str = select!(
    "FROM memory_categories AS filed CROSS JOIN memories ON memories.id = filed.id
     WHERE filed.category = ?3 AND filed.id > ?1 ORDER BY filed.id LIMIT ?2"
);
const PAGE_OF_BOTH: &str = select!(
    "FROM memory_categories AS filed CROSS JOIN memories ON memories.id = filed.id
     WHERE filed.scope = ?3 AND filed.category = ?4 AND filed.id > ?1 ORDER BY filed.id LIMIT ?2"
);

/// None: a value has not the form that it was written in.
pub(super) fn memory(row: &Row<'_>) -> Option<Memory> {
    let text = |column| row.get_ref(column).ok()?.as_str().ok();
    Some(Memory {
        id: row.get::<_, String>(0).ok()?.try_into().ok()?,
        fields: MemoryFields {
            content: serde_json::from_str(text(1)?).ok()?,
            summary: row.get(2).ok()?,
            scope: row.get(3).ok()?,
            categories: serde_json::from_str(text(4)?).ok()?,
            metadata: serde_json::from_str(text(5)?).ok()?,
            source: row.get(6).ok()?,
        },
        created_at: text(7)?.parse().ok()?,
        updated_at: text(8)?.parse().ok()?,
        last_used_at: time(row.get(9).ok()?)?,
        usage_count: row.get::<_, i64>(10).ok()?.try_into().ok()?,
        version: row.get::<_, i64>(11).ok()?.try_into().ok()?,
    })
}

fn standing(row: &Row<'_>) -> Option<Standing> {
    Some(Standing {
        number: row.get(0).ok()?,
        version: row.get::<_, i64>(1).ok()?.try_into().ok()?,
        created_at: row.get::<_, String>(2).ok()?.parse().ok()?,
        last_used_at: time(row.get(3).ok()?)?,
        usage_count: row.get::<_, i64>(4).ok()?.try_into().ok()?,
        scope: row.get(5).ok()?,
        categories: row.get(6).ok()?,
    })
}

/// A time or none; none at all if it is no time.
#[expect(
    clippy::option_option,
    reason = "the outer one is that of the rows that are read"
)]
fn time(text: Option<String>) -> Option<Option<Timestamp>> {
    text.map(|text| text.parse().ok())
        .map_or(Some(None), |time| time.map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{migrations, open::in_memory};

    #[test]
    fn every_page_is_read_in_the_order_of_an_index() {
        let mut connection = in_memory().unwrap();
        let path = std::path::Path::new("memory.sqlite");
        let at = Timestamp::UNIX_EPOCH;
        migrations::apply(&mut connection, path, migrations::MEMORY, at).unwrap();
        for (sql, index) in [
            (
                PAGE,
                "memories USING INDEX sqlite_autoindex_memories_1 (id>?)",
            ),
            (PAGE_OF_SCOPE, "memories_by_scope (scope=? AND id>?)"),
            (PAGE_OF_CATEGORY, "PRIMARY KEY (category=? AND id>?)"),
            (
                PAGE_OF_BOTH,
                "memory_categories_by_scope (scope=? AND category=? AND id>?)",
            ),
        ] {
            let mut plan = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let parameters = vec!["x"; plan.parameter_count()];
            let plan: Vec<String> = plan
                .query_map(rusqlite::params_from_iter(parameters), |row| row.get(3))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let plan = plan.join("\n");
            assert!(plan.contains(index), "{plan}");
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP"), "{plan}");
        }
    }
}
