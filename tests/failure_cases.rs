//! Every case that is to be shown is named by a test: in the first line of its documentation, before the colon.

use std::collections::BTreeSet;

use wharf_tests::{root, sources};

/// Failures that users of such systems have reported.
const CASES: [&str; 50] = [
    "T1", "T2", "T3", "T4", "T5", // time
    "M1", "M2", "M3", "M4", // memory
    "E1", "E2", "E3", "E4", "E5", // traps and errors
    "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", // contract, loading, upgrade
    "X1", "X2", "X3", "X4", "X5", "X6", "X7", // crash and exactly once
    "R1", "R2", "R3", "R4", // two runners
    "B1", "B2", "B3", "B4", "B5", // budgets, deadlines, cancel
    "P1", "P2", "P3", "P4", "P5", "P6", // plans from a model
    "S1", "S2", "S3", "S4", "S5", "S6", // stores
];

/// What a task of the reference domain may meet with.
const MEETS: [&str; 25] = [
    "stable",
    "price change",
    "unavailable",
    "no stock",
    "lost response",
    "economy preference",
    "max plans",
    "max actions",
    "deadline",
    "invalid tool",
    "invalid dependency",
    "incomplete plan",
    "Redis expiry",
    "Redis unavailable",
    "memory unavailable",
    "changed request",
    "revoked permission",
    "tampered evidence",
    "cancelled before the start",
    "cancelled after an effect",
    "crash after an effect",
    "crash after the first plan",
    "crash after the report",
    "publication retried after a conflict",
    "publication cut short",
];

/// What the tests of a file are about: of each comment right above a test, the first line up to its colon.
fn named(source: &str) -> impl Iterator<Item = &str> {
    let mut lines = source.lines().map(str::trim).peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let Some(comment) = line.strip_prefix("/// ") else {
                continue;
            };
            while lines.next_if(|line| line.starts_with("///")).is_some() {}
            if lines.peek().is_some_and(|line| *line == "#[test]")
                && let Some((names, _)) = comment.split_once(": ")
            {
                return Some(names.split(", "));
            }
        }
    })
    .flatten()
}

#[test]
fn every_case_is_named_by_a_test() {
    let sources = [
        sources(&root().join("tests")),
        sources(&root().join("host/src")),
    ]
    .concat();
    let named: BTreeSet<_> = sources
        .iter()
        .flat_map(|(_, source)| named(source))
        .map(str::to_lowercase)
        .collect();
    let missing: Vec<_> = CASES
        .iter()
        .chain(&MEETS)
        .filter(|case| !named.contains(&case.to_lowercase()))
        .collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
}

#[test]
fn only_a_comment_right_above_a_test_names_what_it_is_about() {
    let source = "
        /// X9: one.
        fn helper() {}

        /// X8, lost: two.
        /// X7: not the first line.
        #[test]
        fn test() {}

        // X6: no documentation.
        #[test]
        fn other() {}
    ";
    assert_eq!(named(source).collect::<Vec<_>>(), ["X8", "lost"]);
}
