//! Tries to give each attempt a key of its own, from whatever could differ: a counter, a hash with a random seed, an
//! address, the time. It finds nothing that differs.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use hostile::{Guest, Task};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn operation_key(_: &Task, _: &str) -> Option<String> {
        Some(anything_new())
    }
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Whatever could differ from one call to the next.
fn anything_new() -> String {
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    let hash = RandomState::new().hash_one(1);
    let address = Box::into_raw(Box::new(calls));
    format!(
        "{calls} {hash} {address:?} {:?} {:?}",
        Instant::now(),
        SystemTime::now()
    )
}
