//! Sandboxes by the thousand, and many at a time: memory reaches a plateau, each call ends in its own window, and what a stopped
//! call held is free at once, for other processes as well.

use std::{
    fs,
    num::NonZeroU64,
    process::Command,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use wharf::{
    core::ports::domain::Domain as _,
    plugin::{CompileCache, EngineLimits, Plugin, PluginEngine, PluginLimits, VerifiedBytes},
};
use wharf_tests::{
    alone::{alone, resident},
    command::compile_cache,
    guest,
    hostile::{self, Attack, IMPATIENT, request},
};

const MIB: u64 = 1 << 20;

fn subject(plugin: &Plugin, goal: &str) -> Result<String, &'static str> {
    let found = plugin.check_task(&request(goal));
    found
        .map(|subject| subject.unwrap().as_str().to_owned())
        .map_err(|error| error.code())
}

/// M3: every tenth call traps, some are interrupted. No call sees what another has left.
#[test]
fn fifty_thousand_calls_on_eight_threads_leave_the_memory_where_it_was_after_ten_thousand() {
    const THREADS: usize = 8;
    const CALLS: usize = 50_000;
    const FIFTHS: usize = 5;
    alone(guest!().test(), || {
        let plugin = hostile::load("keeps_state_between_calls", PluginLimits::standard()).unwrap();
        let hasty = hostile::load("keeps_state_between_calls", IMPATIENT).unwrap();
        let mut after = Vec::new();
        for _ in 0..FIFTHS {
            thread::scope(|threads| {
                for _ in 0..THREADS {
                    threads.spawn(|| {
                        for number in 0..CALLS / FIFTHS / THREADS {
                            match number % 10 {
                                0 => assert_eq!(subject(&plugin, "trap"), Err("plugin-trap")),
                                _ => assert_eq!(subject(&plugin, "count").unwrap(), "1"),
                            }
                            if number % 500 == 0 {
                                assert_eq!(subject(&hasty, "spin"), Err("plugin-deadline"));
                            }
                        }
                    });
                }
            });
            after.push(resident());
        }
        let grown = after[FIFTHS - 1].saturating_sub(after[0]);
        assert!(grown < 4 * MIB, "{grown} bytes: {after:?}");
    });
}

/// T1: the guest spins for 200 ms, the only worker of the runtime goes on.
#[test]
fn a_guest_that_spins_beside_a_runtime_of_one_worker_does_not_stop_its_beat() {
    let plugin = hostile::load("spins_in_check_task", IMPATIENT).unwrap();
    let again = plugin.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let beats = runtime.spawn(async move {
        let call = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            assert_eq!(subject(&plugin, "attack"), Err("plugin-deadline"));
            started.elapsed()
        });
        let mut beat = tokio::time::interval(Duration::from_millis(50));
        let mut beats = 0;
        while !call.is_finished() {
            beat.tick().await;
            beats += 1;
        }
        (beats, call.await.unwrap())
    });
    let (beats, took) = runtime.block_on(beats).unwrap();
    assert!((200..1_000).contains(&took.as_millis()), "{took:?}");
    // At 0, 50, 100 and 150 ms, whatever else the machine does.
    assert!(beats >= 3, "{beats}");
    assert_eq!(subject(&again, "behave").unwrap(), "subject");
}

/// T2: sixteen calls begin at the same moment; none is ended by another's ticker.
#[test]
fn sixteen_calls_with_different_budgets_end_each_in_its_own_window() {
    let budgets: Vec<u64> = (0..16).map(|number| 100 + 50 * (number % 4)).collect();
    let begin = Barrier::new(budgets.len());
    thread::scope(|threads| {
        for &budget in &budgets {
            let begin = &begin;
            threads.spawn(move || {
                let limits = PluginLimits {
                    call_millis: NonZeroU64::new(budget).unwrap(),
                    ..PluginLimits::standard()
                };
                let plugin = hostile::load("spins_in_check_task", limits).unwrap();
                begin.wait();
                let started = Instant::now();
                assert_eq!(subject(&plugin, "attack"), Err("plugin-deadline"));
                let took = u64::try_from(started.elapsed().as_millis()).unwrap();
                assert!(
                    (budget..budget * 5).contains(&took),
                    "{took} ms of {budget}"
                );
            });
        }
    });
}

/// T2: in a process of its own, since the other tests have engines, too.
#[test]
fn each_engine_has_one_ticker_thread_which_ends_with_it_and_its_plugins() {
    alone(guest!().test(), || {
        let tickers = || {
            fs::read_dir("/proc/self/task")
                .unwrap()
                .filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
                .filter(|name| name.starts_with("wharf-plugin-ti"))
                .count()
        };
        let until = |count| {
            wharf_tests::patience::until("there are as many tickers", || tickers() == count);
        };
        let bytes = VerifiedBytes::pin(
            hostile::component("spins_in_check_task"),
            IMPATIENT.component_bytes,
        )
        .unwrap();
        let cache = CompileCache::open(compile_cache()).unwrap();
        let started = |_| {
            let engine = PluginEngine::new(EngineLimits::small()).unwrap();
            Plugin::load(&engine, &bytes, IMPATIENT, Some(&cache)).unwrap()
        };
        let mut plugins: Vec<Plugin> = (0..3).map(started).collect();
        until(3);
        thread::scope(|threads| {
            for plugin in &plugins {
                for _ in 0..4 {
                    threads.spawn(|| {
                        assert_eq!(subject(plugin, "attack"), Err("plugin-deadline"));
                    });
                }
            }
            assert_eq!(tickers(), 3, "one each, however many calls");
        });
        let clone = plugins[0].clone();
        plugins.clear();
        until(1);
        drop(clone);
        until(0);
    });
}

/// The transaction of a call that was stopped holds nothing, not for a moment: another process, which does not wait for locks,
/// writes as soon as the call has ended.
#[test]
fn the_write_lock_of_a_stopped_call_is_free_at_once_for_another_process() {
    if let Some(database) = std::env::var_os(OTHER) {
        return hostile::writes_without_waiting(database.as_ref());
    }
    let named = guest!();
    let attack = Attack::on("spins_in_a_transaction_after_a_write", IMPATIENT);
    hostile::fails(attack.perform("add"), "plugin-deadline");
    // This very process keeps its connections.
    let database = attack.folder().join("business.sqlite");
    let other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", named.test(), "--test-threads=1", "--nocapture"])
        .env(OTHER, &database)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&other.stdout);
    assert!(
        other.status.success() && said.contains("1 passed"),
        "{said}"
    );
    assert_eq!(
        attack.count("SELECT count(*) FROM things WHERE id = 'other'"),
        1
    );
    assert_eq!(attack.count("SELECT count(*) FROM things"), 1);
}

/// Says that this is the other process, and where the database is.
const OTHER: &str = "WHARF_TESTS_OTHER";
