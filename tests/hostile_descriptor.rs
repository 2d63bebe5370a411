//! Guests that describe themselves as they must not (`tests/hostile/guests`): they are not loaded.

use wharf::core::ports::domain::Declared as _;
use wharf_tests::{
    guest,
    hostile::{Named, STANDARD, attack, cannot_be_installed, is_refused, is_refused_alone, load},
};

/// Refused, in time, with this in the reason.
#[track_caller]
fn violates(named: Named, reason: &str) {
    let why = is_refused(named, STANDARD, "plugin-contract-violation").why();
    assert!(why.contains(reason), "{why}");
}

#[test]
fn names_itself_a_path() {
    violates(guest!(), "the plugin's name is not");
}

#[test]
fn declares_a_tool_twice() {
    violates(guest!(), "two tools have the same name");
}

#[test]
fn declares_an_external_effect() {
    violates(guest!(), "`external`");
}

#[test]
fn describes_a_million_tools() {
    is_refused_alone(guest!(), STANDARD, "plugin-host-buffer-limit");
}

/// Compiling patterns is the host's work.
#[test]
fn declares_a_pattern_bomb() {
    violates(guest!(), "the arguments' schema of add is refused");
}

#[test]
fn declares_a_pattern_that_looks_around() {
    violates(guest!(), "the arguments' schema of add is refused");
}

#[test]
fn declares_a_remote_schema() {
    violates(guest!(), "the arguments' schema of add is refused");
}

#[test]
fn declares_a_schema_that_explodes() {
    violates(guest!(), "the arguments' schema of add is refused");
}

#[test]
fn declares_a_schema_that_recurs() {
    violates(guest!(), "the input schema is refused");
}

#[test]
fn imports_more_than_there_is() {
    let error = is_refused(guest!(), STANDARD, "plugin-missing-imports");
    assert!(error.to_string().contains("wasi:http/"), "{error}");
}

/// What differs from one description to the next would be found here; and a loaded plugin keeps its own.
#[test]
fn changes_its_descriptor() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        let again = load(named.guest(), STANDARD).unwrap();
        let [first, second] =
            [&attack.plugin, &again].map(|plugin| format!("{:?}", plugin.descriptor()));
        assert_eq!(first, second);
        assert_eq!(again.descriptor().tools.len(), 2);
    });
}

#[test]
fn migrates_the_ledger_away() {
    cannot_be_installed(guest!(), "plugin-script-refused");
}
