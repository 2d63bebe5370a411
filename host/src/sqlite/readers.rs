//! A small store of idle read-only connections, so that a read need not open a file and never waits for the writer.

use std::sync::{Mutex, PoisonError};

use super::error::SqliteError;

/// Idle connections of type `T`. Takes one out for each read; opens another where none is idle; keeps at most
/// [`Readers::KEPT`] idle ones.
pub struct Readers<T> {
    idle: Mutex<Vec<T>>,
    open: Box<dyn Fn() -> Result<T, SqliteError> + Send + Sync>,
}

impl<T> Readers<T> {
    /// How many idle connections are kept.
    pub const KEPT: usize = 16;

    /// None is opened yet.
    pub fn new(open: impl Fn() -> Result<T, SqliteError> + Send + Sync + 'static) -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
            open: Box::new(open),
        }
    }

    /// A connection for the caller alone. Dropping it instead of giving it back closes it.
    ///
    /// # Errors
    /// None was idle and another cannot be opened.
    pub fn take(&self) -> Result<T, SqliteError> {
        let idle = self.lock().pop();
        idle.map_or_else(|| (self.open)(), Ok)
    }

    /// Keeps a connection for the next reader. It must not be inside a transaction.
    pub fn give_back(&self, connection: T) {
        let mut idle = self.lock();
        if idle.len() < Self::KEPT {
            idle.push(connection);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<T>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
