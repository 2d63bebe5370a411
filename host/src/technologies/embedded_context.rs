//! The Context in this process' memory: the default, and gone with the process.
//!
//! Owns its entries, their time to live and its bounds. It never persists anything; what is evicted is rebuilt from the
//! journal by whoever misses it. Called by the core through [`Context`].

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;

use crate::{
    core::ports::context::{Context, ContextValue, Stored},
    words::{
        clock::Clock,
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
    },
};

/// The most an embedded Context may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBounds {
    /// Scopes at once.
    pub entries: NonZeroUsize,
    /// Bytes of all scopes and bodies together; one value may take all of them.
    pub bytes: NonZeroUsize,
}

/// Working sets in memory.
pub struct EmbeddedContext {
    clock: Arc<dyn Clock>,
    bounds: ContextBounds,
    entries: Mutex<Entries>,
}

impl EmbeddedContext {
    /// An empty one.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, bounds: ContextBounds) -> Self {
        Self {
            clock,
            bounds,
            entries: Mutex::default(),
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // Nothing panics between two changes that belong together.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load_now(&self, scope: &str) -> Option<ContextValue> {
        let mut entries = self.entries();
        entries.drop_expired(self.clock.now());
        entries.by_scope.get(scope).map(|entry| entry.value.clone())
    }

    fn store_now(
        &self,
        scope: &str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> Result<Stored, ContextTooLarge> {
        let size = size_of_entry(scope, &value);
        if size > self.bounds.bytes.get() {
            return Err(ContextTooLarge {
                size,
                allowed: self.bounds.bytes.get(),
            });
        }
        let now = self.clock.now();
        let mut entries = self.entries();
        entries.drop_expired(now);
        if entries.by_scope.get(scope).map(|entry| entry.value.head) != expected {
            return Ok(Stored::Lost);
        }
        entries.remove(scope);
        entries.make_room(size, self.bounds);
        entries.insert(scope, value, now.checked_add(ttl).unwrap_or(Timestamp::MAX));
        Ok(Stored::Yes)
    }
}

impl Context for EmbeddedContext {
    fn load<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Option<ContextValue>, Error>> {
        async move { Ok(self.load_now(scope)) }.boxed()
    }

    fn store<'a>(
        &'a self,
        scope: &'a str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Stored, Error>> {
        async move { Ok(self.store_now(scope, expected, value, ttl)?) }.boxed()
    }
}

/// A value that could never be held. Storing it again cannot help.
#[derive(Debug, thiserror::Error)]
#[error("a working set of {size} bytes was to be stored in a Context of {allowed}")]
pub struct ContextTooLarge {
    /// Bytes of the value and its scope.
    pub size: usize,
    /// Bytes allowed.
    pub allowed: usize,
}

impl Fault for ContextTooLarge {
    fn facts(&self) -> Facts {
        Facts::new(
            "context-too-large",
            Kind::Limit,
            "let the plugin report a smaller snapshot, or raise the bound of the Context",
        )
    }

    fn why(&self) -> Option<String> {
        Some("one working set is larger than all of them together may be".into())
    }
}

#[derive(Default)]
struct Entries {
    by_scope: HashMap<String, Entry>,
    bytes: usize,
}

struct Entry {
    value: ContextValue,
    expires: Timestamp,
}

impl Entries {
    fn drop_expired(&mut self, now: Timestamp) {
        self.by_scope.retain(|scope, entry| {
            let lives = now < entry.expires;
            if !lives {
                self.bytes -= size_of_entry(scope, &entry.value);
            }
            lives
        });
    }

    /// Evicts those that would expire first until one more of `size` bytes fits.
    fn make_room(&mut self, size: usize, bounds: ContextBounds) {
        while self.by_scope.len() >= bounds.entries.get() || self.bytes + size > bounds.bytes.get()
        {
            let first = self.by_scope.iter().min_by_key(|(_, entry)| entry.expires);
            let Some(scope) = first.map(|(scope, _)| scope.clone()) else {
                return;
            };
            self.remove(&scope);
        }
    }

    fn remove(&mut self, scope: &str) {
        if let Some(entry) = self.by_scope.remove(scope) {
            self.bytes -= size_of_entry(scope, &entry.value);
        }
    }

    fn insert(&mut self, scope: &str, value: ContextValue, expires: Timestamp) {
        self.bytes += size_of_entry(scope, &value);
        self.by_scope
            .insert(scope.to_owned(), Entry { value, expires });
    }
}

fn size_of_entry(scope: &str, value: &ContextValue) -> usize {
    scope.len() + value.body.len() + size_of::<ContextValue>()
}
