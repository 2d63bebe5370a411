//! What a call used is known, however it ended, and is paid for.

use std::num::NonZeroU64;

use super::*;
use crate::core::{
    metering::{CallUse, FuelBudgets, Meter, Outstanding},
    ports::domain::Domain as _,
};

const FUEL: u64 = 50_000_000;

fn metered() -> Plugin {
    load(PluginLimits {
        fuel: NonZeroU64::new(FUEL),
        ..PluginLimits::standard()
    })
}

fn meter(task: Option<u64>, workspace: Option<u64>) -> Arc<Meter> {
    let budgets = FuelBudgets {
        task: task.and_then(NonZeroU64::new),
        workspace: workspace.and_then(NonZeroU64::new),
    };
    Arc::new(Meter::new(
        budgets,
        0,
        None,
        Arc::new(Outstanding::default()),
    ))
}

/// What one call used, and how it ended.
fn used(plugin: &Plugin, goal: &str) -> (CallUse, &'static str) {
    let meter = meter(None, None);
    let answer = plugin
        .metered(Arc::clone(&meter))
        .check_task(&request(goal));
    let [call] = meter.take().try_into().unwrap();
    (call, answer.err().map_or("", |error| error.code()))
}

#[test]
fn a_call_tells_its_time_memory_fuel_host_calls_and_sql() {
    let (call, _) = used(&metered(), "logs:7");
    assert_eq!((&*call.function, call.host_calls), ("check-task", 7));
    assert!(call.micros > 0 && call.memory_bytes >= 65_536, "{call:?}");
    assert!(call.fuel.unwrap() > 100, "{call:?}");
    assert_eq!((call.sql_rows, call.fault), (0, None));
    let unmetered = used(&probe(), "allocate:10000000").0;
    assert_eq!(unmetered.fuel, None);
    assert!(unmetered.memory_bytes > 10_000_000, "{unmetered:?}");

    let meter = meter(None, None);
    let plugin = probe().metered(Arc::clone(&meter));
    plugin
        .snapshot(&request("queries:5"), Script::new())
        .unwrap()
        .unwrap();
    let prepared = plugin
        .prepare(&request("execute:INSERT"), &step("change"))
        .unwrap();
    prepared.perform(Script::new()).unwrap().unwrap();
    let calls = meter.take();
    let of = |call: &CallUse| (call.function.clone(), call.host_calls, call.sql_rows);
    assert_eq!(
        calls.iter().map(of).collect::<Vec<_>>(),
        [("snapshot".into(), 5, 5), ("perform".into(), 1, 3)]
    );
}

/// What a call burns before it traps counts, whatever it traps of.
#[test]
fn a_trapped_call_is_charged_what_it_burnt() {
    let plugin = metered();
    let (fine, _) = used(&plugin, "burn:1000000");
    for (goal, code) in [
        ("burn-then-trap:1000000", "plugin-trap"),
        ("burn-then-panic:1000000", "plugin-panic"),
        ("burn-then-read-out-of-bounds:1000000", "plugin-trap"),
        ("burn-then-divide:1000000", "plugin-trap"),
        ("burn-then-recurse:1000000", "plugin-stack-overflow"),
    ] {
        let (call, found) = used(&plugin, goal);
        assert_eq!((found, call.fault.as_deref()), (code, Some(code)), "{goal}");
        assert!(call.fuel >= Some(1_000_000), "{goal}: {call:?}, {fine:?}");
    }
    let (all, code) = used(&plugin, "spin");
    assert_eq!(code, "plugin-out-of-fuel");
    assert!(all.fuel >= Some(FUEL - 1_000), "{all:?}");
}

/// T5: burn, then trap, a hundred times: the budget runs out.
#[test]
fn a_budget_runs_out_though_every_call_traps() {
    let plugin = metered();
    let (one, _) = used(&plugin, "burn-then-trap:1000000");
    let one = one.fuel.unwrap();
    for (task, workspace, expected) in [
        (Some(one * 50), None, "task-fuel-budget"),
        (None, Some(one * 50), "workspace-fuel-budget"),
    ] {
        let meter = meter(task, workspace);
        let paid = plugin.metered(Arc::clone(&meter));
        let codes: Vec<_> = (0..100)
            .map(|_| code(paid.check_task(&request("burn-then-trap:1000000"))))
            .collect();
        let trapped = codes.iter().filter(|code| **code == "plugin-trap").count();
        assert!((49..=50).contains(&trapped), "{trapped}");
        assert_eq!(codes.last(), Some(&expected));
        let burnt: u64 = meter.take().iter().filter_map(|call| call.fuel).sum();
        assert!(burnt <= one * 50, "never more than the budget");
    }
}

#[test]
fn what_was_granted_and_not_burnt_is_there_for_the_next_call() {
    let plugin = metered();
    let meter = meter(None, Some(FUEL));
    let paid = plugin.metered(Arc::clone(&meter));
    for _ in 0..10 {
        paid.check_task(&request("nothing")).unwrap().unwrap();
    }
    // An instance that was made ready and is not needed costs nothing.
    for _ in 0..10 {
        drop(paid.prepare(&request("nothing"), &step("change")).unwrap());
    }
    paid.check_task(&request("nothing")).unwrap().unwrap();
    assert_eq!(meter.take().len(), 11);
}
