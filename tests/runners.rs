//! Several at once: two runners of one task, readers beside a runner, many tasks in one workspace.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use wharf::{
    HostLimits, Outcome, PlanExecute, Planner, Request, RunOptions, StopReason, Task, host,
    words::clock::{Clock as _, SystemClock},
};
use wharf_tests::{
    Workspace, command,
    demo::{self, TASK},
    gated::Gated,
    library, wharf,
};

/// A second is what is promised, on a machine that has nothing else to do.
const AT_ONCE: Duration = Duration::from_secs(5);

fn planned(scenario: &str) -> Workspace {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, scenario)
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    workspace
}

/// R1: the loser gets a typed error.
#[test]
fn a_second_runner_is_refused_before_it_does_anything() {
    // The first one waits to append; then it waits for the business database, which somebody else is writing to.
    for boundary in 0..2 {
        let workspace = planned("stable");
        let request = workspace.handed_in("request.json", demo::request().to_string());
        let mut first = Gated::start(wharf("resume").dir(workspace.path()), &workspace);
        for _ in 0..boundary {
            assert_eq!(first.go_on(), None);
        }
        let before = workspace.standing();
        let resume = wharf("resume").dir(workspace.path());
        let run = wharf("run")
            .arg("--plugin")
            .arg(wharf_tests::built::plugin("fulfillment"))
            .arg("--request")
            .arg(&request)
            .dir(workspace.path());
        for second in [resume, run] {
            let begun = Instant::now();
            let [what, ..] = second.run().refusal(1, "task-owned");
            assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
            assert!(what.contains(&format!("process {}", first.id())), "{what}");
            assert_eq!(workspace.standing(), before);
        }
        assert_eq!(first.release().code, Some(0));
    }
}

/// R1: a killed owner's lock is free at once.
#[test]
fn the_task_of_a_killed_runner_is_free_at_once() {
    let workspace = planned("stable");
    let first = Gated::start(wharf("resume").dir(workspace.path()), &workspace);
    wharf("resume")
        .dir(workspace.path())
        .run()
        .refusal(1, "task-owned");
    first.kill();
    let _ = wharf("resume").dir(workspace.path()).run().exits(0);
}

/// R3: eight readers, a process for each step.
#[test]
fn eight_readers_disturb_no_run_and_see_it_only_grow() {
    let workspace = planned("price-change");
    let ended = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..8)
        .map(|number| {
            let (directory, ended) = (workspace.path(), Arc::clone(&ended));
            thread::spawn(move || {
                let mut looks = 0;
                let mut records = 0;
                while !ended.load(Ordering::Relaxed) {
                    let task = TASK.parse().unwrap();
                    let status = host::status(&directory, &task, SystemClock.now()).unwrap();
                    assert!(status.view.records >= records);
                    records = status.view.records;
                    if number % 2 == 0 {
                        let cache = command::compile_cache();
                        let audit = host::audit(
                            &directory,
                            Some(&task),
                            Some(&cache),
                            &HostLimits::standard(),
                        )
                        .unwrap();
                        assert!(audit.is_clean(), "{audit:?}");
                    }
                    looks += 1;
                }
                looks
            })
        })
        .collect();
    let resume = || wharf("resume").dir(workspace.path());
    // A process for each step: databases are opened, closed and tidied up under the readers' eyes.
    for _ in 0..4 {
        let _ = resume().args(["--stop-after", "step"]).run().exits(12);
    }
    let _ = resume().run().exits(0);
    ended.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.join().unwrap() > 0);
    }
    assert_eq!(workspace.ledger().len(), 4);
    assert_eq!(workspace.report(TASK)["usage"]["actionCalls"], 5);
}

/// Two hosts stand for two processes: they share nothing but the files.
/// R4: by two hosts, which share nothing but the files.
#[test]
fn of_sixteen_orders_at_once_as_many_are_completed_as_there_is_stock_for() {
    const STOCK: usize = 7;
    let workspace = Workspace::new();
    let seed = demo::seed("stable") + &format!("UPDATE inventory SET stock = {};", STOCK + 1);
    let first = order(0).with_seed(seed);
    let hosts = [(); 2].map(|()| library::host(workspace.path()));
    library::finish(&hosts[0], Planner::Search, first);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let reasons = runtime.block_on(async {
        let runs: Vec<_> = (1..=16)
            .map(|number| {
                let host = hosts[number % 2].clone();
                tokio::spawn(async move {
                    let pattern = PlanExecute::new(Planner::Search);
                    host.run(&pattern, order(number), RunOptions::default())
                        .await
                })
            })
            .collect();
        let mut reasons = Vec::new();
        for run in runs {
            match run.await.unwrap() {
                Ok(Outcome::Finished(finished)) => reasons.push(finished.stop_reason),
                other => panic!("{other:?}"),
            }
        }
        reasons
    });
    let count = |reason| reasons.iter().filter(|&&found| found == reason).count();
    assert_eq!(count(StopReason::Completed), STOCK, "{reasons:?}");
    assert_eq!(count(StopReason::NeedsHuman), 16 - STOCK, "{reasons:?}");
    assert_eq!(workspace.select("SELECT stock FROM inventory"), ["0"]);
    assert_eq!(workspace.ledger().len(), 4 * (STOCK + 1));
    let orders = workspace.select("SELECT DISTINCT state FROM orders");
    assert_eq!(orders, ["shipped"]);
    let tasks = host::tasks(&workspace.path()).unwrap();
    assert_eq!(tasks.len(), 17);
    let cache = command::compile_cache();
    let audit = host::audit(
        &workspace.path(),
        None,
        Some(&cache),
        &HostLimits::standard(),
    )
    .unwrap();
    assert!(audit.is_clean(), "{audit:?}");
}

fn order(number: usize) -> Task {
    let mut request = demo::request();
    request["id"] = format!("order-{number}").into();
    request["input"]["orderId"] = format!("ORDER-{number}").into();
    request["input"]["quantity"] = json!(1);
    Task::new(
        Request::read(&request.to_string()).unwrap(),
        demo::component(),
    )
}
