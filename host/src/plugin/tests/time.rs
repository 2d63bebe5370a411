//! Deadlines: each call ends in its own window, whatever runs beside it.

use std::time::Duration;

use super::*;
use crate::{
    core::ports::domain::Domain as _,
    plugin::{call, log::GuestLog},
    words::clock::{Clock as _, SystemClock},
};

fn within(millis: u64) -> Plugin {
    load(PluginLimits {
        call_millis: millis.try_into().unwrap(),
        ..PluginLimits::standard()
    })
}

/// Spins until the deadline.
fn spin(plugin: &Plugin) {
    assert_eq!(code(plugin.check_task(&request("spin"))), "plugin-deadline");
}

#[test]
fn a_component_that_never_finishes_starting_ends_by_the_deadline() {
    let endless = RUNTIME
        .component(&files::endless_start(), None, COMPILING)
        .unwrap();
    let limits = PluginLimits {
        call_millis: 100.try_into().unwrap(),
        ..PluginLimits::standard()
    };
    let mut store = call::store(&RUNTIME, limits, GuestLog::new("p".into(), "f", &limits));
    let error = RUNTIME
        .linker()
        .instantiate(&mut store, &endless)
        .unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&wasmtime::Trap::Interrupt));
}

#[test]
fn the_time_of_a_prepared_step_runs_from_its_performance_on() {
    let plugin = within(100);
    let prepared = plugin
        .prepare(&request("nothing"), &step("change"))
        .unwrap();
    // Another call that uses up the whole time meanwhile.
    spin(&plugin);
    spin(&plugin);
    prepared.perform(Script::new()).unwrap().unwrap();
}

#[test]
fn a_batch_of_candidates_ends_by_ten_calls_time_though_each_is_in_time() {
    let plugin = within(100);
    let before = SystemClock.now().as_millisecond();
    let mut tried = 0;
    // The plugin is quick; it is the making of candidates that takes its time, and that counts.
    let (_open, never) = std::sync::mpsc::channel::<()>();
    let mut endless = std::iter::repeat_with(|| {
        tried += 1;
        never.recv_timeout(Duration::from_millis(20)).unwrap_err();
        plan(1)
    });
    let error = plugin
        .first_accepted(&request("steps:2"), &empty(), &mut endless)
        .unwrap_err();
    let took = SystemClock.now().as_millisecond() - before;
    assert_eq!(error.code(), "plugin-deadline");
    assert!(
        error
            .to_string()
            .ends_with("it ran longer than its 1000 ms")
    );
    assert!((1000..5000).contains(&took), "{took}");
    assert!(tried > 10, "{tried}");
}
