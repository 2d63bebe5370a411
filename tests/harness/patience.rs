//! Waiting for what another process does: short looks, and an end to them.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until it is so; the test fails if it never is.
#[track_caller]
pub fn until(what: &str, so: impl FnMut() -> bool) {
    assert!(within(PATIENCE, so), "it never happens that {what}");
}

/// Looks until it is so, or the time has passed.
pub fn within(time: Duration, mut so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        if so() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        // Not a time after which it must be so, only a pause between two looks.
        thread::sleep(Duration::from_millis(1));
    }
}
