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

/// Spins until the deadline, and says how many milliseconds that took.
fn spin(plugin: &Plugin) -> u64 {
    let before = SystemClock.now();
    assert_eq!(code(plugin.check_task(&request("spin"))), "plugin-deadline");
    let millis = SystemClock.now().as_millisecond() - before.as_millisecond();
    u64::try_from(millis).unwrap()
}

#[test]
fn calls_with_different_budgets_at_the_same_time_end_each_in_its_own_window() {
    let budgets = [100, 200, 300, 400, 200, 100];
    std::thread::scope(|threads| {
        for budget in budgets {
            let plugin = within(budget);
            threads.spawn(move || {
                let took = spin(&plugin);
                assert!(
                    (budget..budget * 5).contains(&took),
                    "{took} ms of {budget}"
                );
            });
        }
    });
}

#[test]
fn a_spinning_plugin_on_a_blocking_thread_does_not_stop_the_one_worker_beside_it() {
    let plugin = within(200);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let beats = runtime.block_on(async {
        let call = tokio::task::spawn_blocking(move || spin(&plugin));
        let mut beat = tokio::time::interval(Duration::from_millis(20));
        let mut beats = 0;
        while !call.is_finished() {
            beat.tick().await;
            beats += 1;
        }
        assert!((200..1000).contains(&call.await.unwrap()));
        beats
    });
    assert!(beats >= 5, "{beats}");
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

#[test]
fn the_ticker_is_one_thread_that_ends_with_its_engine() {
    let threads = || {
        std::fs::read_dir("/proc/self/task")
            .unwrap()
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .filter(|name| name.trim() == "engine-of-a-tes")
            .count()
    };
    let named = |name: &str| {
        let limits = EngineLimits {
            sandboxes: 1.try_into().unwrap(),
            ..EngineLimits::standard()
        };
        PluginEngine::named(limits, name).unwrap()
    };
    let engine = named("engine-of-a-test");
    let clone = engine.clone();
    // A thread gets its name only when it runs.
    while threads() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(threads(), 1);
    drop(engine);
    assert_eq!(threads(), 1);
    drop(clone);
    assert_eq!(threads(), 0);
}
