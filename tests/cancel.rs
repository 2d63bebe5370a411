//! Cancelled: what runs ends or is undone, nothing more happens, and the task can be resumed.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use serde_json::Value;
use wharf::{
    Cancellation, Digest, Error, Outcome, Planner, RunOptions, Task,
    core::ports::{
        context::{Context, ContextValue, Stored},
        model::{Answer, Model, Prompt},
    },
};
use wharf_tests::{
    Workspace,
    demo::{self, TASK},
    gated::{Ended, Gated},
    library, script, wharf,
};

fn planned() -> Workspace {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "price-change")
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    workspace
}

/// It ended as a cancelled run ends, and says how to go on.
#[track_caller]
fn assert_cancelled(ended: &Ended) {
    assert_eq!((ended.code, &*ended.stdout), (Some(130), ""), "{ended:?}");
    let last: Vec<_> = ended.said.iter().rev().take(3).rev().collect();
    assert!(last[0].starts_with("cancelled: task demo"), "{ended:?}");
    assert!(last[2].contains("wharf resume --dir"), "{ended:?}");
}

fn finished(workspace: &Workspace) -> Value {
    let answer = wharf("resume")
        .dir(workspace.path())
        .json()
        .run()
        .exits(0)
        .document();
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    answer["report"].clone()
}

/// What a cancellation must not change.
fn outcome(report: &Value) -> [Value; 5] {
    ["plans", "completed", "changes", "result", "stopReason"].map(|member| report[member].clone())
}

/// Cancelled after an effect, B5: by a signal, again and again.
#[test]
fn a_signal_ends_the_run_after_the_step_in_flight_and_it_can_be_resumed_and_cancelled_again() {
    let whole = planned();
    let planned = whole.copy();
    let expected = finished(&whole);
    for signal in ["INT", "TERM"] {
        let workspace = planned.copy();
        // Each run waits for the business database with one step in flight.
        for steps in 1..=2 {
            let mut run = Gated::start(wharf("resume").dir(workspace.path()).json(), &workspace);
            assert_eq!(run.go_on(), None);
            run.signal(signal);
            run.hear("cancelling");
            assert_cancelled(&run.release());
            assert_eq!(workspace.ledger().len(), steps);
            assert_eq!(workspace.journal(TASK).last().unwrap().kind, "finished");
        }
        let report = finished(&workspace);
        assert_eq!(outcome(&report), outcome(&expected));
        assert_eq!(
            report["usage"]["actionCalls"],
            expected["usage"]["actionCalls"]
        );
        assert_eq!(workspace.effects(), whole.effects());
    }
}

#[test]
fn a_signal_while_a_plan_is_asked_for_comes_before_every_effect() {
    let failed = Workspace::new();
    let script = failed.script(&[script::fails("overloaded", true)]);
    let _ = demo::demo(&failed, "stable").script(script).run().exits(1);
    let workspace = failed.copy();
    let run =
        |workspace: &Workspace| Gated::start(wharf("resume").dir(workspace.path()), workspace);
    let mut cancelled = run(&workspace);
    cancelled.signal("TERM");
    cancelled.hear("cancelling");
    assert_cancelled(&cancelled.release());
    assert_eq!(workspace.ledger(), []);
    assert_eq!(workspace.select("SELECT * FROM orders"), [""; 0]);
    let expected = finished(&failed);
    assert_eq!(outcome(&finished(&workspace)), outcome(&expected));
}

#[test]
fn a_second_signal_leaves_at_once_and_the_task_can_be_resumed() {
    let workspace = planned();
    let mut run = Gated::start(wharf("resume").dir(workspace.path()), &workspace);
    assert_eq!(run.go_on(), None);
    run.signal("INT");
    run.hear("cancelling");
    run.signal("INT");
    // Both locks stay held: it does not wait for what is running.
    let ended = run.wait();
    assert_eq!((ended.code, &*ended.stdout), (Some(130), ""), "{ended:?}");
    assert_eq!(workspace.ledger(), []);
    assert_eq!(finished(&workspace)["usage"]["actionCalls"], 6);
}

/// B5: before, between and within the steps.
#[test]
fn a_run_that_was_cancelled_at_any_record_does_nothing_more_and_can_be_resumed() {
    let whole = Workspace::new();
    let host = library::host(whole.path());
    let expected = library::finish(&host, Planner::Search, demo::task("price-change")).report;
    let expected: Value = serde_json::from_str(&expected).unwrap();
    for last in 1..=whole.journal(TASK).len() as u64 {
        let workspace = Workspace::new();
        let host = library::host(workspace.path());
        let mut options = RunOptions::default();
        let cancellation = options.cancellation.clone();
        options.progress = Some(Arc::new(move |progress| {
            if progress.sequence == last {
                cancellation.cancel();
            }
        }));
        let cancelled = library::run(&host, Planner::Search, demo::task("price-change"), options);
        assert!(
            matches!(cancelled, Ok(Outcome::Cancelled)),
            "record {last}: {cancelled:?}"
        );
        // What was intended when it was asked for may have ended; nothing later has begun.
        assert!(workspace.ledger().iter().all(|row| row.sequence <= last));
        assert!(workspace.journal(TASK).len() as u64 <= last + 1);
        let report =
            library::finish(&host, Planner::Search, Task::Saved(TASK.parse().unwrap())).report;
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(outcome(&report), outcome(&expected), "record {last}");
        assert_eq!(workspace.effects(), whole.effects(), "record {last}");
    }
}

/// Cancelled before the start, B5: twice, and then run.
#[test]
fn a_run_that_was_cancelled_before_it_began_has_no_effect() {
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    let run = || {
        let mut options = RunOptions::default();
        options.cancellation = Cancellation::new();
        options.cancellation.cancel();
        library::run(&host, Planner::Search, demo::task("stable"), options)
    };
    for _ in 0..2 {
        assert!(matches!(run(), Ok(Outcome::Cancelled)));
        assert_eq!(workspace.ledger(), []);
    }
    library::finish(&host, Planner::Search, demo::task("stable"));
}

/// Something that never answers. Whoever waits for it is cancelled while waiting.
struct Silent(Cancellation);

type Answered<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

impl Silent {
    fn never<T: Send>(&self) -> Answered<'_, T> {
        Box::pin(async {
            self.0.cancel();
            std::future::pending().await
        })
    }
}

impl Model for Silent {
    fn check(&self, _: &Prompt<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn sample<'a>(
        &'a self,
        _: &'a Prompt<'a>,
        _: &'a (dyn Fn(&str) + Sync),
    ) -> Answered<'a, Answer> {
        self.never()
    }
}

impl Context for Silent {
    fn load<'a>(&'a self, _: &'a str) -> Answered<'a, Option<ContextValue>> {
        self.never()
    }

    fn store<'a>(
        &'a self,
        _: &'a str,
        _: Option<Digest>,
        _: ContextValue,
        _: Duration,
    ) -> Answered<'a, Stored> {
        self.never()
    }
}

/// B5: the call is given up, and paid for; the world is as it was.
#[test]
fn a_run_that_is_cancelled_while_a_model_does_not_answer_ends_at_once() {
    let workspace = Workspace::new();
    for calls in 1..=2 {
        let host = library::host(workspace.path());
        let mut options = RunOptions::default();
        options.cancellation = Cancellation::new();
        let silent = Silent(options.cancellation.clone());
        let planner = Planner::Model(Arc::new(silent));
        let cancelled = library::run(&host, planner, demo::task("stable"), options);
        assert!(matches!(cancelled, Ok(Outcome::Cancelled)), "{cancelled:?}");
        let status = wharf("status").dir(workspace.path()).json().run().exits(0);
        let usage = &status.document()["tasks"][0]["usage"];
        assert_eq!(usage["modelCalls"], calls);
        assert_eq!(workspace.ledger(), []);
        assert_eq!(workspace.select("SELECT * FROM orders"), [""; 0]);
    }
    let report = finished(&workspace);
    assert_eq!(report["usage"]["modelCalls"], 3);
    assert_eq!(report["usage"]["actionCalls"], 4);
}

/// B5: nothing has begun, so that nothing is to be resumed.
#[test]
fn a_run_that_is_cancelled_while_a_context_does_not_answer_has_not_begun() {
    let workspace = Workspace::new();
    let mut options = RunOptions::default();
    options.cancellation = Cancellation::new();
    let silent = Silent(options.cancellation.clone());
    let host = library::builder(workspace.path())
        .context(Arc::new(silent))
        .build()
        .unwrap();
    let cancelled = library::run(&host, Planner::Search, demo::task("stable"), options);
    assert!(matches!(cancelled, Ok(Outcome::Cancelled)), "{cancelled:?}");
    drop(host);
    assert_eq!(workspace.journal(TASK), []);
    assert_eq!(workspace.ledger(), []);
    let host = library::host(workspace.path());
    library::finish(&host, Planner::Search, demo::task("stable"));
}
