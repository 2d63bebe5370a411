//! Where time comes from. Nothing else in the library asks the operating system for it.

use jiff::{Timestamp, Unit};

/// A source of wall-clock time.
pub trait Clock: Send + Sync {
    /// Now, in UTC, with a resolution of one millisecond.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks for the time"
    )]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.round(Unit::Millisecond).unwrap_or(now)
    }
}
