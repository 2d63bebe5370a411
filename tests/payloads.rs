//! What is too large: the run ends with where it was and both sizes, and nobody tries it again unasked.

use std::{num::NonZeroUsize, sync::Arc};

use serde_json::{Value, json};
use wharf::{
    Kind, Planner, RunOptions,
    technologies::embedded_context::{ContextBounds, EmbeddedContext},
    words::clock::SystemClock,
};
use wharf_tests::{
    Workspace, demo, library, probe,
    script::{ready, says},
    wharf,
};

const KIB: usize = 1024;

/// S2: a record. Each resume pays for one more attempt, until none is left.
#[test]
fn a_record_that_is_too_large_is_terminal_and_named_with_both_sizes() {
    let workspace = Workspace::new();
    let large = 64 * KIB + 1;
    let run = || probe::run(&workspace, &format!("data-bytes:{}", large - 2), "change");
    for _ in 0..4 {
        let lines = run().run().refusal(1, "plugin-output-limit").join(" ");
        for part in ["perform", &large.to_string(), &(64 * KIB).to_string()] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
        assert_eq!(workspace.ledger(), []);
    }
    let report = run().json().run().exits(11).document()["report"].clone();
    assert_eq!(report["stopReason"], "max-actions");
    assert_eq!(report["usage"]["actionCalls"], 4);
    assert_eq!(workspace.ledger(), []);
}

/// S2: a snapshot, before anything is reserved.
#[test]
fn a_snapshot_that_is_too_large_ends_the_run_before_any_call_is_reserved() {
    let workspace = Workspace::new();
    let large = 256 * KIB + 1;
    let lines = probe::run(&workspace, &format!("json-bytes:{}", large - 2), "change")
        .run()
        .refusal(1, "plugin-output-limit")
        .join(" ");
    for part in ["snapshot", &large.to_string(), &(256 * KIB).to_string()] {
        assert!(lines.contains(part), "{part}: {lines}");
    }
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    let usage = &status.document()["tasks"][0]["usage"];
    assert_eq!(
        (&usage["modelCalls"], &usage["actionCalls"]),
        (&json!(0), &json!(0))
    );
}

/// S2: an answer of the model.
#[test]
fn an_answer_that_is_too_large_stops_the_task_with_both_sizes() {
    let workspace = Workspace::new();
    let mut plan = ready(&["reserve_stock"]);
    plan["padding"] = "x".repeat(256 * KIB).into();
    let size = plan.to_string().len().to_string();
    let report = demo::demo(&workspace, "stable")
        .script(workspace.script(&[says(plan)]))
        .json()
        .run()
        .exits(11)
        .document()["report"]
        .clone();
    assert_eq!(report["stopReason"], "invalid-plan");
    assert_eq!(report["usage"]["modelCalls"], 1);
    let message = report["details"][0]["message"].as_str().unwrap();
    for part in ["the answer", &size, &(256 * KIB).to_string()] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(workspace.ledger(), []);
}

/// S2: a working set that its Context can never hold. Each run ends at once; a Context that holds it lets the task go on.
#[test]
fn a_working_set_that_is_too_large_is_named_with_both_sizes_and_costs_no_attempt() {
    let workspace = Workspace::new();
    let bytes = NonZeroUsize::new(100).unwrap();
    let bounds = ContextBounds {
        bytes,
        ..ContextBounds::standard()
    };
    let context = EmbeddedContext::new(Arc::new(SystemClock), bounds);
    let host = library::builder(workspace.path())
        .context(Arc::new(context))
        .build()
        .unwrap();
    let run = || {
        let task = demo::task("stable");
        library::run(&host, Planner::Search, task, RunOptions::default())
    };
    for _ in 0..2 {
        let error = run().unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("context-too-large", Kind::Limit)
        );
        let what = error.to_string();
        assert!(
            what.contains("a working set of ") && what.contains("a Context of 100"),
            "{what}"
        );
    }
    drop(host);
    let host = library::host(workspace.path());
    let report = library::finish(&host, Planner::Search, demo::task("stable")).report;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["usage"]["modelCalls"], 1);
}
