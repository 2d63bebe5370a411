//! How long to wait before a failed attempt is repeated.
//!
//! A pure function: who calls it waits, and decides by [`ChatFault::retryable`](super::fault::ChatFault::retryable) whether to.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// A server that asks for more is not waited for.
const MOST_ASKED: Duration = Duration::from_mins(5);
/// At most this much longer than a server asks, so that those who were told the same time do not come together.
const SPREAD: Duration = Duration::from_millis(250);

/// The wait before another attempt: none, if there is to be none.
///
/// `retries` are allowed after the first attempt, and `failures` there were, the last one included. A server that asks for up to
/// five minutes gets them, and never less; for more, the answer is none. Otherwise the wait is of one second after the first
/// failure and doubles up to thirty, of which a random half is taken off. `jitter` is a random number from 0 to 1.
#[must_use]
pub fn delay(
    retries: u32,
    failures: u32,
    retry_after: Option<Duration>,
    jitter: f64,
) -> Option<Duration> {
    if failures > retries {
        return None;
    }
    let jitter = if jitter.is_nan() {
        1.0
    } else {
        jitter.clamp(0.0, 1.0)
    };
    match retry_after {
        Some(asked) => (asked <= MOST_ASKED).then(|| asked + SPREAD.mul_f64(jitter)),
        None => {
            let doubled = 1_u32
                .checked_shl(failures.saturating_sub(1))
                .unwrap_or(u32::MAX);
            let whole = FIRST.saturating_mul(doubled).min(LONGEST);
            Some(whole / 2 + (whole / 2).mul_f64(jitter))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: f64) -> Option<Duration> {
        Some(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn a_wait_doubles_up_to_a_bound_and_half_of_it_is_random() {
        for (failures, least, most) in [
            (1, 0.5, 1.0),
            (2, 1.0, 2.0),
            (3, 2.0, 4.0),
            (6, 15.0, 30.0),
            (99, 15.0, 30.0),
        ] {
            assert_eq!(delay(99, failures, None, 0.0), seconds(least), "{failures}");
            assert_eq!(delay(99, failures, None, 1.0), seconds(most), "{failures}");
        }
        assert_eq!(delay(99, 1, None, 0.5), seconds(0.75));
    }

    #[test]
    fn there_are_as_many_retries_as_are_allowed() {
        assert_eq!(delay(0, 1, None, 0.0), None);
        assert_eq!(delay(2, 2, None, 0.0), seconds(1.0));
        assert_eq!(delay(2, 3, None, 0.0), None);
        assert_eq!(delay(2, 3, seconds(1.0), 0.0), None);
    }

    #[test]
    fn a_server_gets_what_it_asks_for_up_to_five_minutes() {
        assert_eq!(delay(1, 1, seconds(0.0), 0.0), seconds(0.0));
        assert_eq!(delay(1, 1, seconds(60.0), 0.0), seconds(60.0));
        assert_eq!(delay(1, 1, seconds(300.0), 1.0), seconds(300.25));
        assert_eq!(delay(1, 1, seconds(300.001), 0.0), None);
        assert_eq!(delay(1, 1, Some(Duration::MAX), 0.0), None);
    }

    proptest! {
        #[test]
        fn a_wait_is_never_less_than_asked_for_nor_endless(
            failures in 0_u32..200,
            asked in prop::option::of(0_u64..400_000),
            jitter in prop::num::f64::ANY,
        ) {
            let asked = asked.map(Duration::from_millis);
            if let Some(wait) = delay(200, failures, asked, jitter) {
                prop_assert!(wait >= asked.unwrap_or(FIRST / 2));
                prop_assert!(wait <= MOST_ASKED + SPREAD);
            }
        }
    }
}
