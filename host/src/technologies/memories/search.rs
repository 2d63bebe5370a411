//! The SQL of a search: few candidates from the index, the best of them with their rows.

use std::time::Duration;

use rusqlite::{Row, params};

use super::rows::{Rows, memory, select};
use crate::{
    core::ports::memories::Hit,
    sqlite::{deadline, error::SqliteError},
};

/// How long a search may take.
pub(super) const MAX_TIME: Duration = Duration::from_secs(3);

/// How many objects that hold all the words are ranked at most: those with the highest numbers, which were first kept last.
pub(super) const MAX_CANDIDATES: u32 = 1024;

// The columns' weights: the scope finds and does not rank. What FTS5 calls better is smaller.
const HITS: &str = select!(
    ", score FROM (
         SELECT number, score FROM (
             SELECT rowid AS number, bm25(memory_words, 0.0, 4.0, 1.0) AS score
             FROM memory_words WHERE memory_words MATCH ?1 ORDER BY rowid DESC LIMIT ?3
         ) ORDER BY score, number DESC LIMIT ?2
     ) AS found CROSS JOIN memories USING (number) ORDER BY score, found.number DESC"
);

/// The best objects for an expression of FTS5; none: they were not found in time.
pub(super) fn hits(
    rows: &Rows<'_>,
    expression: &str,
    limit: u32,
) -> Result<Option<Vec<Hit>>, SqliteError> {
    deadline::within(MAX_TIME, || {
        rows.all(HITS, params![expression, limit, MAX_CANDIDATES], hit)
    })
}

fn hit(row: &Row<'_>) -> Option<Hit> {
    Some(Hit {
        object: memory(row)?,
        score: -row.get::<_, f64>(12).ok()?,
    })
}
