//! Models that fail, fall silent or repeat themselves, and the budgets that bound them.

use std::sync::Arc;

use serde_json::{Value, json};
use wharf::{Outcome, ProgressBody, RunOptions};
use wharf_tests::{
    Workspace,
    demo::{self, TASK},
    library::{self, Scripted, TestClock},
    rows,
    script::{WHOLE, fails, ready, says},
    wharf,
};

const REST: [&str; 2] = ["ship_economy", "read_receipt"];

fn resume(workspace: &Workspace, answers: &[Value]) -> wharf_tests::Wharf {
    wharf("resume")
        .dir(workspace.path())
        .script(workspace.script(answers))
        .json()
}

/// X5: the model fails after two steps; neither is repeated.
#[test]
fn an_error_of_the_model_ends_the_run_and_the_task_goes_on_with_the_next_answer() {
    for retryable in [true, false] {
        let workspace = Workspace::new();
        let answers = [
            says(ready(&WHOLE)),
            fails("overloaded", retryable),
            says(ready(&REST)),
        ];
        let script = workspace.script(&answers);
        let ran = demo::demo(&workspace, "price-change")
            .script(script)
            .json()
            .run();
        let [what, why, _] = ran.refusal(1, "model-failed");
        assert!(
            format!("{what}{why}").contains("overloaded"),
            "{what} {why}"
        );
        assert!(!workspace.output(TASK, "report.json").exists());
        assert_eq!(workspace.ledger().len(), 2);

        let ran = resume(&workspace, &answers).run().exits(0);
        let usage = &ran.document()["report"]["usage"];
        assert_eq!(usage["modelCalls"], 3, "a failed answer is charged");
        assert_eq!(usage["actionCalls"], 5, "no step is repeated");
        assert_eq!(workspace.ledger().len(), 4);
    }
}

#[test]
fn a_model_that_only_fails_uses_up_the_plans() {
    let workspace = Workspace::new();
    let answers = [
        fails("down", true),
        fails("down", true),
        fails("down", true),
    ];
    let script = workspace.script(&answers);
    demo::demo(&workspace, "stable")
        .script(script)
        .json()
        .run()
        .refusal(1, "model-failed");
    resume(&workspace, &answers)
        .run()
        .refusal(1, "model-failed");
    resume(&workspace, &answers)
        .run()
        .refusal(1, "model-failed");
    let ran = resume(&workspace, &answers).run().exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["stopReason"], "max-plans");
    assert_eq!(report["details"][0]["code"], "max-plans");
    assert_eq!(report["usage"]["modelCalls"], 3);
    assert_eq!(report["completed"], json!([]));
}

#[test]
fn a_script_that_is_too_short_costs_nothing_and_goes_on_with_a_longer_one() {
    let workspace = Workspace::new();
    let first = [says(ready(&WHOLE))];
    let script = workspace.script(&first);
    let ran = demo::demo(&workspace, "price-change")
        .script(script)
        .json()
        .run();
    ran.refusal(1, "script-exhausted");
    let calls = || {
        let status = wharf("status").dir(workspace.path()).json().run().exits(0);
        status.document()["tasks"][0]["usage"]["modelCalls"].clone()
    };
    assert_eq!(calls(), 1);
    for _ in 0..3 {
        resume(&workspace, &first)
            .run()
            .refusal(1, "script-exhausted");
    }
    assert_eq!(calls(), 1, "no call is reserved that cannot be made");
    let longer = [says(ready(&WHOLE)), says(ready(&REST))];
    let ran = resume(&workspace, &longer).run().exits(0);
    assert_eq!(ran.document()["report"]["usage"]["modelCalls"], 2);
    assert_eq!(ran.document()["report"]["result"]["cost"], 400);
}

/// Max plans: the limit is never overshot.
#[test]
fn the_last_plan_that_is_allowed_is_used_and_no_further_one_is_asked_for() {
    let workspace = Workspace::new();
    let ran = demo::demo(&workspace, "price-change")
        .args(["--max-plans", "1"])
        .json()
        .run()
        .exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["stopReason"], "max-plans");
    assert_eq!(report["usage"]["modelCalls"], 1);
    assert_eq!(report["changes"].as_array().unwrap().len(), 1);
    assert_eq!(report["completed"].as_array().unwrap().len(), 2);
    assert_eq!(report["result"], Value::Null);
    let enough = Workspace::new();
    let _ = demo::demo(&enough, "price-change")
        .args(["--max-plans", "2"])
        .run()
        .exits(0);
}

/// Max actions, B2: the limit is never overshot.
#[test]
fn no_action_is_taken_beyond_the_limit() {
    for limit in [0, 2, 3] {
        let workspace = Workspace::new();
        let ran = demo::demo(&workspace, "stable")
            .args(["--max-actions", &limit.to_string()])
            .json()
            .run()
            .exits(11);
        let report = &ran.document()["report"];
        assert_eq!(report["stopReason"], "max-actions");
        assert_eq!(report["details"][0]["code"], "max-actions");
        assert_eq!(
            report["details"][0]["stepId"],
            format!("step-{}", limit + 1)
        );
        assert_eq!(report["usage"]["actionCalls"], limit);
        assert_eq!(report["completed"].as_array().unwrap().len(), limit);
        assert_eq!(report["result"], Value::Null);
        assert_eq!(workspace.ledger().len(), limit);
        assert!(!workspace.output(TASK, "shipment.json").exists());
    }
    let enough = Workspace::new();
    let _ = demo::demo(&enough, "stable")
        .args(["--max-actions", "4"])
        .run()
        .exits(0);
}

#[test]
fn an_action_that_the_environment_refused_counts_as_well() {
    let workspace = Workspace::new();
    let ran = demo::demo(&workspace, "price-change")
        .args(["--max-actions", "4"])
        .json()
        .run()
        .exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["stopReason"], "max-actions");
    assert_eq!(report["details"][0]["stepId"], "step-2");
    assert_eq!(report["completed"].as_array().unwrap().len(), 3);
    // It has shipped; it is partial all the same, and claims nothing.
    assert_eq!(workspace.select("SELECT state FROM orders"), ["shipped"]);
    assert_eq!(report["status"], "partial");
    assert!(!workspace.output(TASK, "shipment.json").exists());
}

/// Runs the stable scenario with a clock that jumps by ten minutes in the midst of a stage: with so many model calls and tool
/// calls begun.
fn late_in(stage: &'static str, calls: (u32, u32)) -> Value {
    let workspace = Workspace::new();
    let clock = TestClock::at("2030-01-01T00:00:00Z");
    let host = library::builder(workspace.path())
        .clock(Arc::clone(&clock) as _)
        .build()
        .unwrap();
    let mut options = RunOptions::default();
    options.progress = Some(Arc::new(move |progress| {
        let ProgressBody::Record {
            kind: "intended",
            view,
        } = progress.body
        else {
            return;
        };
        if (view.stage, view.usage.model_calls, view.usage.action_calls)
            == (stage, calls.0, calls.1)
        {
            clock.advance_seconds(600);
        }
    }));
    let outcome = library::run(&host, wharf::Planner::Search, demo::task("stable"), options);
    let Outcome::Finished(finished) = outcome.unwrap() else {
        panic!("it is finished")
    };
    let report: Value = serde_json::from_str(&finished.report).unwrap();
    assert_eq!(report["usage"]["startedAt"], "2030-01-01T00:00:00Z");
    assert_eq!(report["generatedAt"], "2030-01-01T00:10:00Z");
    assert_eq!(report["usage"]["modelCalls"], calls.0);
    assert_eq!(report["usage"]["actionCalls"], calls.1);
    assert_eq!(workspace.ledger().len(), calls.1 as usize);
    report
}

/// Deadline: whatever the stage.
#[test]
fn after_the_deadline_no_plan_is_asked_for_and_no_action_begins() {
    let late = [
        late_in("snapshot", (0, 0)),
        late_in("plan", (1, 0)),
        late_in("step", (1, 1)),
        late_in("step", (1, 3)),
    ];
    for report in late {
        assert_eq!(report["status"], "partial");
        assert_eq!(report["stopReason"], "deadline");
        assert_eq!(report["details"][0]["code"], "deadline");
        assert_eq!(report["result"], Value::Null);
    }
}

#[test]
fn an_action_that_is_running_at_the_deadline_completes_and_the_last_one_completes_the_task() {
    for report in [late_in("step", (1, 4)), late_in("conclude", (1, 4))] {
        assert_eq!(report["status"], "completed");
        assert_eq!(report["completed"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn a_pause_counts_towards_the_deadline() {
    let workspace = Workspace::new();
    let clock = TestClock::at("2030-01-01T00:00:00Z");
    let host = || {
        library::builder(workspace.path())
            .clock(Arc::clone(&clock) as _)
            .build()
            .unwrap()
    };
    let mut options = RunOptions::default();
    options.stop_after = Some(wharf::Checkpoint::Step);
    let search = wharf::Planner::Search;
    let stopped = library::run(&host(), search.clone(), demo::task("stable"), options).unwrap();
    assert!(matches!(
        stopped,
        Outcome::Checkpoint(wharf::Checkpoint::Step)
    ));
    clock.advance_seconds(600);
    let saved = wharf::Task::Saved(TASK.parse().unwrap());
    let finished = library::finish(&host(), search, saved);
    let report: Value = serde_json::from_str(&finished.report).unwrap();
    assert_eq!(report["stopReason"], "deadline");
    assert_eq!(report["usage"]["actionCalls"], 1);
    assert_eq!(workspace.ledger().len(), 1);
}

/// P5: it stops with that reason.
#[test]
fn the_same_plan_again_for_an_unchanged_world_is_a_stall() {
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    let stubborn = Scripted::saying([ready(&WHOLE), ready(&WHOLE), ready(&WHOLE)]);
    let mut options = RunOptions::default();
    let database = workspace.path().join("business.sqlite");
    options.progress = Some(Arc::new(move |progress| {
        // Sold out when the first step begins, on stock again before anybody looks.
        let stock = match progress.body {
            ProgressBody::Record {
                kind: "intended",
                view,
            } if view.stage == "step" => 0,
            ProgressBody::Record {
                kind: "finished",
                view,
            } if view.stage == "snapshot" => 10,
            _ => return,
        };
        rows::execute(&database, &format!("UPDATE inventory SET stock = {stock}"));
    }));
    let outcome = library::run(&host, stubborn.planner(), demo::task("stable"), options);
    let Outcome::Finished(finished) = outcome.unwrap() else {
        panic!("it is finished")
    };
    let report: Value = serde_json::from_str(&finished.report).unwrap();
    assert_eq!(report["stopReason"], "stalled");
    assert_eq!(report["usage"]["modelCalls"], 2);
    assert_eq!(report["usage"]["actionCalls"], 1);
    assert_eq!(report["changes"][0]["code"], "environment-changed");
    assert_eq!(report["plans"].as_array().unwrap().len(), 1);
    assert_eq!(workspace.ledger(), []);
}

/// P6: every completed step, and every change.
#[test]
fn who_plans_again_is_told_what_is_done_and_what_has_changed() {
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    let model = Scripted::saying([ready(&WHOLE), ready(&REST)]);
    let finished = library::finish(&host, model.planner(), demo::task("price-change"));
    assert_eq!(finished.status.code(), "completed");
    let [first, second] = &model.asked()[..] else {
        panic!("it was asked twice")
    };
    assert_eq!(first["goal"], demo::request()["goal"]);
    assert_eq!(inner(&first["input"]), demo::request()["input"]);
    assert_eq!(inner(&first["snapshot"])["state"], "new");
    for list in ["plans", "completed", "changes"] {
        assert_eq!(first[list], json!([]));
    }
    assert_eq!(inner(&second["snapshot"])["standard"], 900);
    assert_eq!(
        second["plans"],
        json!([{"version": 1, "plan": ready(&WHOLE)}])
    );
    let done: Vec<_> = second["completed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let state = &inner(&entry["data"])["state"];
            format!("{} {state}", entry["step"]["tool"])
        })
        .collect();
    let expected = [r#""reserve_stock" "reserved""#, r#""pack_order" "packed""#];
    assert_eq!(done, expected);
    assert_eq!(second["changes"][0]["stepId"], "ship_standard");
    assert_eq!(second["changes"][0]["code"], "environment-changed");
}

/// The domain's own JSON, which stands in a working set as it was written: as text.
fn inner(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}
