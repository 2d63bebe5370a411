//! What a plugin finds around it, and what is left of it when it breaks.

use super::*;
use crate::{core::ports::domain::Domain as _, words::events::events};

fn check(goal: &str) -> Result<String, Error> {
    let subject = probe().check_task(&request(goal))?.unwrap();
    Ok(subject.as_str().to_owned())
}

#[test]
fn a_plugin_finds_nothing_and_the_same_every_time() {
    let found = check("surroundings").unwrap();
    assert!(
        found.starts_with("env=0 args=0 stdin=Some(0) now=946684800 hash="),
        "{found}"
    );
    assert!(
        found.ends_with("file=true dir=true net=true map=1"),
        "{found}"
    );
    assert_eq!(check("surroundings").unwrap(), found);
}

#[test]
fn a_plugin_that_sleeps_wakes_at_once() {
    let started = clock_millis();
    assert_eq!(check("sleep:3600000").unwrap(), "slept true");
    assert!(clock_millis() - started < 60_000);
}

#[test]
fn calls_work_on_plain_threads_and_on_those_of_any_runtime() {
    std::thread::spawn(|| check("surroundings").unwrap())
        .join()
        .unwrap();
    let several = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    several.block_on(async {
        tokio::task::spawn_blocking(|| check("sleep:10").unwrap())
            .await
            .unwrap();
        // Even where blocking is impolite it does not panic.
        check("surroundings").unwrap();
    });
}

/// E2, E5: plugin, digest, function, text, frames and a hint; shown escaped.
#[test]
fn a_panic_arrives_with_its_text_and_where_it_happened() {
    let error = check("panic:no \u{1b}[31mluck").unwrap_err();
    assert_eq!(error.code(), "plugin-panic");
    let why = error.why();
    assert!(
        why.contains("panicked at") && why.contains("no \\u{1b}[31mluck"),
        "{why}"
    );
    assert!(why.contains("probe::panic_with"), "{why}");
    assert!(!why.contains('\u{1b}'));
}

#[test]
fn a_panic_behind_a_flood_of_output_is_still_found() {
    let error = check("print-then-panic:1500").unwrap_err();
    assert_eq!(error.code(), "plugin-panic");
    assert!(error.why().contains("after all that"), "{}", error.why());
    let long = "x".repeat(900);
    let error = check(&format!("panic:{long}")).unwrap_err();
    assert!(error.why().len() < 4000);
}

#[test]
fn a_trap_without_words_says_what_it_was() {
    let error = check("unreachable").unwrap_err();
    assert_eq!(error.code(), "plugin-trap");
    assert!(error.why().contains("unreachable"), "{}", error.why());
}

#[test]
fn exit_ends_the_call_and_not_the_host() {
    let error = check("exit:0").unwrap_err();
    assert_eq!(error.code(), "plugin-exit");
    assert!(error.to_string().ends_with("it called exit with status 0"));
    assert_eq!(code(check("exit:3")), "plugin-exit");
}

#[test]
fn ordinary_output_beyond_the_log_budget_is_dropped_and_harms_nothing() {
    assert_eq!(check("print:2000").unwrap(), "subject");
}

#[test]
fn what_a_plugin_says_names_plugin_and_function_and_obeys_no_terminal() {
    let ((), lines) = events(|| {
        check("log:red \u{1b}[31malert\nINFO forged").unwrap();
        check("print:2").unwrap();
    });
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("WARN") && lines[0].contains(r"red \u{1b}[31malert\nINFO forged"));
    assert!(
        lines[0].contains("plugin=\"probe\" function=\"check-task\""),
        "{lines:?}"
    );
    assert!(
        lines[2].contains("INFO") && lines[2].contains(" 1 "),
        "{lines:?}"
    );
}

/// E1: on a fresh store.
#[test]
fn after_a_hundred_traps_the_next_call_still_works() {
    let plugin = probe();
    for _ in 0..100 {
        assert_eq!(
            code(plugin.check_task(&request("unreachable"))),
            "plugin-trap"
        );
    }
    plugin.check_task(&request("nothing")).unwrap().unwrap();
}

fn clock_millis() -> i64 {
    use crate::words::clock::{Clock as _, SystemClock};
    SystemClock.now().as_millisecond()
}
