//! Whatever could differ from one call to the next: for guests that try not to answer the same.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

/// How often it was asked before, in this sandbox.
pub fn nth_call() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed)
}

/// A counter, a hash with a random seed, an address, the time.
pub fn anything_new() -> String {
    let calls = nth_call();
    let hash = RandomState::new().hash_one(1);
    let address = Box::into_raw(Box::new(calls));
    format!(
        "{calls} {hash} {address:?} {:?} {:?}",
        Instant::now(),
        SystemTime::now()
    )
}
