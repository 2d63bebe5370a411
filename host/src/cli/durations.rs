//! Durations for people.

/// Whole seconds as `m:ss` or `h:mm:ss`, rounded down.
pub(super) fn clock(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_reads_like_a_clock() {
        assert_eq!(
            [clock(-5), clock(9_999), clock(600_000), clock(3_661_000)],
            ["0:00", "0:09", "10:00", "1:01:01"]
        );
    }
}
