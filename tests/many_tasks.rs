//! Many tasks at once in one workspace: the last stock is sold once (R4), nothing is lost (R2), and nobody who looks on is in
//! the way (R3).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use jiff::Timestamp;
use wharf::{
    Host, Outcome, PlanExecute, Planner, Request, RunOptions, Status, Task,
    host::{Finished, status, tasks},
    plugin::{EngineLimits, PluginEngine},
};
use wharf_tests::{Workspace, demo, library, wharf};

/// A task for one piece, on a subject of its own.
fn order(number: usize) -> Task {
    let mut request = demo::request();
    request["id"] = format!("task-{number}").into();
    request["input"]["orderId"] = format!("ORDER-{number}").into();
    request["input"]["quantity"] = 1.into();
    let request = Request::read(&request.to_string()).unwrap();
    Task::new(request, demo::component())
}

/// Runs tasks at the same time.
fn run_all(host: &Host, tasks: impl Iterator<Item = Task>) -> Vec<Finished> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let runs: Vec<_> = tasks
        .map(|task| {
            let host = host.clone();
            runtime.spawn(async move {
                let pattern = PlanExecute::new(Planner::Search);
                host.run(&pattern, task, RunOptions::default()).await
            })
        })
        .collect();
    runs.into_iter()
        .map(|run| match runtime.block_on(run).unwrap().unwrap() {
            Outcome::Finished(finished) => finished,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// R2: each takes from the same stock, and adds rows of its own.
#[test]
fn sixty_four_writers_at_once_leave_sixty_four_results() {
    const TASKS: usize = 64;
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    let seed = demo::seed("stable") + "UPDATE inventory SET stock = 100;";
    let first = order(0).with_seed(seed);
    let mut finished = vec![library::finish(&host, Planner::Search, first)];
    finished.extend(run_all(&host, (1..TASKS).map(order)));
    let completed = |task: &Finished| task.status == Status::Completed;
    assert!(finished.iter().all(completed));
    assert_eq!(workspace.select("SELECT stock FROM inventory"), ["36"]);
    let shipped = "SELECT count(*) FROM orders WHERE state = 'shipped'";
    assert_eq!(workspace.select(shipped), ["64"]);
    let complete =
        "SELECT count(*) FROM (SELECT 1 FROM wharf_ledger GROUP BY task HAVING count(*) = 4)";
    assert_eq!(workspace.select(complete), ["64"]);
    let reports: std::collections::BTreeSet<_> = (0..TASKS)
        .map(|number| workspace.report(&format!("task-{number}"))["result"]["orderId"].to_string())
        .collect();
    assert_eq!(reports.len(), TASKS);
    drop(host);
    let audit = wharf("audit").dir(workspace.path()).json().run().exits(0);
    assert_eq!(audit.document()["tasks"].as_array().unwrap().len(), TASKS);
}

/// M4: two tenants share an engine of one sandbox, and neither waits for all of the other's.
#[test]
fn hosts_that_share_an_engine_wait_for_the_same_sandboxes_and_all_complete() {
    let limits = EngineLimits {
        sandboxes: 1.try_into().unwrap(),
        ..EngineLimits::small()
    };
    let engine = PluginEngine::new(limits).unwrap();
    let workspaces = [Workspace::new(), Workspace::new()];
    let hosts = workspaces.each_ref().map(|workspace| {
        let host = library::builder(workspace.path()).engine(engine.clone());
        host.build().unwrap()
    });
    for host in &hosts {
        let seed = demo::seed("stable") + "UPDATE inventory SET stock = 100;";
        library::finish(host, Planner::Search, order(0).with_seed(seed));
    }
    thread::scope(|threads| {
        for host in &hosts {
            threads.spawn(|| {
                let finished = run_all(host, (1..9).map(order));
                let completed = |task: &Finished| task.status == Status::Completed;
                assert!(finished.iter().all(completed));
            });
        }
    });
    assert_eq!(hosts[0].compiles(), engine.compiles());
    assert!(engine.compiles() <= 1, "both have the same plugin");
}

/// R3, R4: 64 orders, eight who look on.
#[test]
fn of_many_orders_at_once_exactly_as_many_complete_as_there_is_stock() {
    const TASKS: usize = 64;
    const STOCK: usize = 10;
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    let first = order(0).with_seed(demo::seed("stable"));
    let mut finished = vec![library::finish(&host, Planner::Search, first)];

    let done = Arc::new(AtomicBool::new(false));
    let pollers: Vec<_> = (0..8)
        .map(|_| {
            let (done, directory) = (Arc::clone(&done), workspace.path());
            thread::spawn(move || {
                let mut looks = 0;
                while !done.load(Ordering::Relaxed) {
                    for task in tasks(&directory).unwrap() {
                        status(&directory, &task, Timestamp::now()).unwrap();
                        looks += 1;
                    }
                }
                looks
            })
        })
        .collect();
    finished.extend(run_all(&host, (1..TASKS).map(order)));
    done.store(true, Ordering::Relaxed);
    for poller in pollers {
        assert!(poller.join().unwrap() > 0);
    }

    let count = |status: Status| finished.iter().filter(|task| task.status == status).count();
    assert_eq!(count(Status::Completed), STOCK);
    assert_eq!(count(Status::NeedsHuman), TASKS - STOCK);
    assert_eq!(workspace.select("SELECT stock FROM inventory"), ["0"]);
    let rows = |sql: &str| workspace.select(sql).len();
    assert_eq!(rows("SELECT 1 FROM orders WHERE state = 'shipped'"), STOCK);
    assert_eq!(rows("SELECT 1 FROM orders WHERE state <> 'shipped'"), 0);
    assert_eq!(rows("SELECT 1 FROM wharf_ledger"), STOCK * 4);
    assert_eq!(
        rows("SELECT 1 FROM wharf_ledger GROUP BY subject HAVING count(*) <> 4"),
        0
    );
    drop(host);
    let audit = wharf("audit").dir(workspace.path()).json().run().exits(0);
    let audited = audit.document()["tasks"].as_array().unwrap().len();
    assert_eq!(audited, TASKS);
}
