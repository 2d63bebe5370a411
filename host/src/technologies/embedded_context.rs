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

impl ContextBounds {
    /// 10,000 scopes of 64 MiB together.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            entries: NonZeroUsize::new(10_000).expect("not zero"),
            bytes: NonZeroUsize::new(64 * 1024 * 1024).expect("not zero"),
        }
    }
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
        let now = self.clock.now();
        let entries = self.entries();
        entries.live(scope, now).map(|entry| entry.value.clone())
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
        if entries.live(scope, now).map(|entry| entry.value.head) != expected {
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
    fn live(&self, scope: &str, now: Timestamp) -> Option<&Entry> {
        self.by_scope.get(scope).filter(|entry| now < entry.expires)
    }

    /// Evicts those that expire first, the expired before all others, until one more of `size` bytes fits.
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

#[cfg(test)]
mod tests {
    use futures::future::ready;

    use super::{
        super::{
            context_conformance::conforms,
            fixtures::{SetClock, assert_error},
        },
        *,
    };

    fn context(entries: usize, bytes: usize) -> (Arc<SetClock>, EmbeddedContext) {
        let clock = Arc::new(SetClock::default());
        let bounds = ContextBounds {
            entries: NonZeroUsize::new(entries).unwrap(),
            bytes: NonZeroUsize::new(bytes).unwrap(),
        };
        (clock.clone(), EmbeddedContext::new(clock, bounds))
    }

    fn value(text: &str) -> ContextValue {
        ContextValue {
            head: Digest::of(text),
            body: text.to_owned(),
        }
    }

    fn put(context: &EmbeddedContext, scope: &str, text: &str, seconds: u64) {
        let stored = context.store_now(scope, None, value(text), Duration::from_secs(seconds));
        assert_eq!(stored.unwrap(), Stored::Yes);
    }

    fn held(context: &EmbeddedContext) -> Vec<String> {
        let mut scopes: Vec<_> = context.entries().by_scope.keys().cloned().collect();
        scopes.sort();
        scopes
    }

    #[test]
    fn it_does_what_every_context_must() {
        let (clock, context) = context(100, 4 << 20);
        let advance = move |time| {
            clock.advance(time);
            ready(()).boxed()
        };
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(conforms(&context, &advance));
    }

    #[test]
    fn of_64_threads_that_store_at_once_one_wins() {
        let (_clock, context) = context(100, 1 << 20);
        let ttl = Duration::from_secs(60);
        let stored = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..64)
                .map(|writer| {
                    let context = &context;
                    scope.spawn(move || {
                        context.store_now("s", None, value(&writer.to_string()), ttl)
                    })
                })
                .collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap().unwrap())
                .filter(|stored| *stored == Stored::Yes)
                .count()
        });
        assert_eq!(stored, 1);
    }

    #[test]
    fn the_expired_go_before_the_living_and_the_soonest_to_expire_before_the_rest() {
        let (clock, context) = context(3, 1 << 20);
        put(&context, "old", "1", 10);
        clock.advance(Duration::from_secs(11));
        put(&context, "soon", "2", 20);
        put(&context, "late", "3", 90);
        put(&context, "new", "4", 60);
        assert_eq!(held(&context), ["late", "new", "soon"]);
        put(&context, "newer", "5", 60);
        assert_eq!(held(&context), ["late", "new", "newer"]);
    }

    #[test]
    fn bytes_are_bounded_and_counted_right_over_replacement_and_eviction() {
        let entry = |text: &str| size_of_entry("a", &value(text));
        let (_clock, context) = context(100, entry("xx") * 2);
        let ttl = Duration::from_secs(60);
        put(&context, "a", "xx", 10);
        put(&context, "b", "yy", 20);
        let replaced = context.store_now("b", Some(value("yy").head), value("z"), ttl);
        assert_eq!(replaced.unwrap(), Stored::Yes);
        assert_eq!(held(&context), ["a", "b"]);
        assert_eq!(context.entries().bytes, entry("xx") + entry("z"));
        put(&context, "c", "ww", 30);
        assert_eq!(held(&context), ["b", "c"]);
        assert_eq!(context.entries().bytes, entry("z") + entry("ww"));
    }

    #[test]
    fn a_value_that_can_never_fit_is_refused_with_both_sizes_and_evicts_nothing() {
        let (_clock, context) = context(100, 200);
        put(&context, "a", "x", 10);
        let error = context
            .store_now("b", None, value(&"x".repeat(200)), Duration::from_secs(1))
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains("200") && text.contains(&error.size.to_string()));
        assert_error(error, "context-too-large", Kind::Limit);
        assert_eq!(held(&context), ["a"]);
    }

    #[test]
    fn no_time_to_live_is_no_life_and_endless_time_is_no_overflow() {
        let (_clock, context) = context(100, 1 << 20);
        put(&context, "a", "x", 0);
        assert_eq!(context.load_now("a"), None);
        put(&context, "b", "x", u64::MAX);
        assert_eq!(context.load_now("b"), Some(value("x")));
    }
}
