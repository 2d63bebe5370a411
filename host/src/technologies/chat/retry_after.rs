//! What a server says about when to come again.
//!
//! Owns the reading of `retry-after` (RFC 9110, 10.2.3: seconds or a date) and of `retry-after-ms`, which OpenAI and Azure send.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// How long to wait. A date counts from the server's own, if it sends one, since its clock may be another; else from `now`.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let milliseconds = text("retry-after-ms")
        .and_then(number)
        .and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    if milliseconds.is_some() {
        return milliseconds;
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Some(seconds) = number(asked) {
        // More than a duration holds is the most that it holds.
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let then = httpdate::parse_http_date(asked).ok()?;
    let from = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
    Some(then.duration_since(from.unwrap_or(now)).unwrap_or_default())
}

/// Digits, with a fraction, which no standard has and some servers send.
fn number(text: &str) -> Option<f64> {
    let fine = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|_| fine)
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    #[track_caller]
    fn check(headers: &[(&str, &str)], expected: Option<u64>) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
            .collect();
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(
            retry_after(&headers, now),
            expected.map(Duration::from_millis),
            "{headers:?}"
        );
    }

    #[test]
    fn seconds_are_read() {
        check(&[("retry-after", "0")], Some(0));
        check(&[("Retry-After", " 120 ")], Some(120_000));
        check(&[("retry-after", "1.5")], Some(1500));
    }

    #[test]
    fn milliseconds_come_first() {
        check(
            &[("retry-after-ms", "1500"), ("retry-after", "2")],
            Some(1500),
        );
        check(
            &[("retry-after-ms", "soon"), ("retry-after", "2")],
            Some(2000),
        );
    }

    #[test]
    fn a_date_counts_from_the_servers_own_or_from_now() {
        let later = ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT");
        check(&[later], Some(30_000));
        check(
            &[later, ("date", "Sun, 06 Nov 1994 08:50:00 GMT")],
            Some(7_000),
        );
        check(&[later, ("date", "today")], Some(30_000));
        check(
            &[("retry-after", "Sunday, 06-Nov-94 08:49:38 GMT")],
            Some(1_000),
        );
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
    }

    #[test]
    fn anything_else_says_nothing() {
        for text in ["", "soon", "-1", "1e3", "inf", "NaN", "1.2.3", "0x10"] {
            check(&[("retry-after", text)], None);
        }
        check(&[], None);
    }

    #[test]
    fn more_than_there_is_time_for_is_read_as_that() {
        let headers: HeaderMap = [(RETRY_AFTER, "9".repeat(40).parse().unwrap())]
            .into_iter()
            .collect();
        assert_eq!(
            retry_after(&headers, SystemTime::UNIX_EPOCH),
            Some(Duration::MAX)
        );
    }
}
