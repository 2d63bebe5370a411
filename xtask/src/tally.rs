//! Counts tests by reading what the test runner prints.

use std::fmt;

/// The sum of all `test result:` lines seen.
///
/// The runner knows no test that finds out while it runs that it cannot: it counts as passed. Such a test
/// prints a line `skipped: WHY` past the runner's capture, and is counted as skipped here.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: u64,
}

impl Tally {
    /// Adds one line of output, which is usually none of interest. The runner's line reads `test
    /// result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    pub(crate) fn read(&mut self, line: &str) {
        self.skipped += u64::from(line.starts_with("skipped: "));
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for (count, what) in counts.split("; ").filter_map(|part| part.split_once(' ')) {
            let sum = match what {
                "passed" => &mut self.passed,
                "failed" => &mut self.failed,
                "ignored" => &mut self.ignored,
                _ => continue,
            };
            *sum += count.parse::<u64>().unwrap_or(0);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed.saturating_sub(self.skipped),
            self.failed,
            self.ignored + self.skipped
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_summed_and_all_else_is_ignored() {
        let mut tally = Tally::default();
        for line in [
            "running 4 tests",
            "test some::test ... ok",
            "skipped: there is no disk",
            "test some::other_test ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s",
            "the test result: ok. 100 passed; 0 failed",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s",
            "",
        ] {
            tally.read(line);
        }
        assert_eq!(tally.to_string(), "4 passed, 1 failed, 2 skipped");
    }
}
