//! What a plugin's SQL may use.

use std::num::{NonZeroU32, NonZeroU64};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits on the SQL of plugins. All are required and none can be zero; each has a test in which it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlLimits {
    /// As [`CallSqlLimits::rows_per_query`].
    pub rows_per_query: NonZeroU32,
    /// As [`CallSqlLimits::bytes_per_call`].
    pub bytes_per_call: NonZeroU32,
    /// As [`CallSqlLimits::value_bytes`].
    pub value_bytes: NonZeroU32,
    /// As [`CallSqlLimits::sql_millis`].
    pub sql_millis: NonZeroU32,
    /// As [`CallSqlLimits::lock_millis`].
    pub lock_millis: NonZeroU32,
    /// As [`DatabaseLimits::install_millis`].
    pub install_millis: NonZeroU32,
    /// As [`DatabaseLimits::busy_millis`].
    pub busy_millis: NonZeroU32,
    /// As [`DatabaseLimits::heap_bytes`].
    pub heap_bytes: NonZeroU64,
    /// As [`DatabaseLimits::workspace_bytes`].
    pub workspace_bytes: NonZeroU64,
}

/// Of [`SqlLimits`], what each plugin may be given its own of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallSqlLimits {
    /// Rows that one query may return.
    pub rows_per_query: NonZeroU32,
    /// Bytes that the queries of one call may return together, column names included.
    pub bytes_per_call: NonZeroU32,
    /// Bytes of one text, blob or row, in a table, a parameter or an intermediate result. One operation of SQLite on a
    /// value cannot be interrupted; those that a plugin may call take time in proportion to its size, `LIKE` with a long
    /// pattern the most.
    pub value_bytes: NonZeroU32,
    /// Milliseconds that the statements of one call may take together.
    pub sql_millis: NonZeroU32,
    /// Milliseconds for which one operation may hold the write lock, from the transaction's start to its commit. A
    /// statement is interrupted at that moment; what the plugin itself computes is bounded by its own time limit, and
    /// the operation is then rolled back.
    pub lock_millis: NonZeroU32,
}

/// Of [`SqlLimits`], what holds for the database of a workspace, whoever uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseLimits {
    /// Milliseconds that one migration or one seed may take.
    pub install_millis: NonZeroU32,
    /// Milliseconds to wait for another process that holds the file.
    pub busy_millis: NonZeroU32,
    /// Bytes of memory that SQLite may use in the whole process, over all stores and journals. Of several values in one
    /// process the lowest stands until it ends.
    pub heap_bytes: NonZeroU64,
    /// Bytes that a workspace's business database may have, the host's tables included. Beyond them nothing is added, and
    /// the operation that would add it is rolled back; to read, to change in place and to delete goes on.
    pub workspace_bytes: NonZeroU64,
}

impl DatabaseLimits {
    /// As [`SqlLimits::standard`].
    #[must_use]
    pub const fn standard() -> Self {
        let SqlLimits {
            install_millis,
            busy_millis,
            heap_bytes,
            workspace_bytes,
            ..
        } = SqlLimits::standard();
        Self {
            install_millis,
            busy_millis,
            heap_bytes,
            workspace_bytes,
        }
    }
}

impl CallSqlLimits {
    /// As [`SqlLimits::standard`].
    #[must_use]
    pub const fn standard() -> Self {
        SqlLimits::standard().of_calls()
    }
}

impl SqlLimits {
    /// What calls may use.
    #[must_use]
    pub const fn of_calls(&self) -> CallSqlLimits {
        CallSqlLimits {
            rows_per_query: self.rows_per_query,
            bytes_per_call: self.bytes_per_call,
            value_bytes: self.value_bytes,
            sql_millis: self.sql_millis,
            lock_millis: self.lock_millis,
        }
    }

    /// The same with other limits on calls.
    #[must_use]
    pub const fn with_calls(self, calls: CallSqlLimits) -> Self {
        Self {
            rows_per_query: calls.rows_per_query,
            bytes_per_call: calls.bytes_per_call,
            value_bytes: calls.value_bytes,
            sql_millis: calls.sql_millis,
            lock_millis: calls.lock_millis,
            ..self
        }
    }

    /// The same with other limits of the database.
    #[must_use]
    pub const fn with_database(self, database: DatabaseLimits) -> Self {
        Self {
            install_millis: database.install_millis,
            busy_millis: database.busy_millis,
            heap_bytes: database.heap_bytes,
            workspace_bytes: database.workspace_bytes,
            ..self
        }
    }

    /// What fits short business operations on a small machine.
    #[must_use]
    pub const fn standard() -> Self {
        const fn some(value: u32) -> NonZeroU32 {
            NonZeroU32::new(value).expect("the standard limits are not zero")
        }
        Self {
            rows_per_query: some(10_000),
            bytes_per_call: some(4 * 1024 * 1024),
            value_bytes: some(128 * 1024),
            sql_millis: some(2_000),
            lock_millis: some(5_000),
            install_millis: some(30_000),
            busy_millis: some(4_000),
            heap_bytes: NonZeroU64::new(256 * 1024 * 1024)
                .expect("the standard limits are not zero"),
            workspace_bytes: NonZeroU64::new(1024 * 1024 * 1024)
                .expect("the standard limits are not zero"),
        }
    }
}
