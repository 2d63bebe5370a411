//! How long something took, for people to read and for the time-outs of tools. No task's time is measured by it: for that there is the
//! [`Clock`](super::clock::Clock).

use std::time::{Duration, Instant};

/// Runs since it was made.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// One that runs from now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a measurement needs a clock that is fine and never goes back"
    )]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since it was made.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "as above")]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// The middle and the last of some measurements; nothing of nothing.
#[must_use]
pub fn median_and_longest(mut times: Vec<Duration>) -> Option<(Duration, Duration)> {
    times.sort_unstable();
    Some((*times.get(times.len() / 2)?, *times.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_some_times_is_not_moved_by_one_that_is_far_off() {
        let times = [5, 1, 900].map(Duration::from_millis).to_vec();
        let found = median_and_longest(times).unwrap();
        assert_eq!(
            found,
            (Duration::from_millis(5), Duration::from_millis(900))
        );
        assert_eq!(median_and_longest(Vec::new()), None);
    }
}
