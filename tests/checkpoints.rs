//! `--stop-after` at every place, and on to the end with `resume`: the report is the one of a task that nobody stopped.

use serde_json::{Value, json};
use wharf_tests::{
    Ran, Workspace, changes,
    demo::{self, SCENARIOS, TASK},
    wharf,
};

#[test]
fn stopping_after_every_plan_does_not_show_in_the_report() {
    stops_do_not_show("plan", |report| count(report, "plans"));
}

#[test]
fn stopping_after_every_step_does_not_show_in_the_report() {
    stops_do_not_show("step", |report| count(report, "completed"));
}

#[test]
fn stopping_before_the_publication_does_not_show_in_the_report() {
    stops_do_not_show("report", |_| 1);
}

fn stops_do_not_show(place: &str, stops: fn(&Value) -> usize) {
    for scenario in SCENARIOS {
        let undisturbed = Workspace::new();
        let exit = demo::exit_code(scenario);
        let _ = demo::demo(&undisturbed, scenario).run().exits(exit);
        let expected = undisturbed.report(TASK);

        let workspace = Workspace::new();
        let mut ran = demo::demo(&workspace, scenario)
            .args(["--stop-after", place])
            .json()
            .run();
        let mut stopped = 0;
        while ran.code == Some(12) {
            stopped += 1;
            let steps = if place == "step" { stopped } else { usize::MAX };
            stands_at_a_checkpoint(&workspace, &ran, place, steps);
            let resume = wharf("resume").dir(workspace.path()).json();
            ran = match place {
                // Asked for again, it would be the same place again.
                "report" => resume.run(),
                _ => resume.args(["--stop-after", place]).run(),
            };
        }
        let ran = ran.exits(exit);
        assert_eq!(stopped, stops(&expected), "{scenario}");
        assert_eq!(ran.document()["report"], workspace.report(TASK));
        assert_eq!(
            settled(workspace.report(TASK)),
            settled(expected),
            "{scenario}"
        );
        assert_eq!(workspace.ledger().len(), undisturbed.ledger().len());
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    }
}

/// The document of the checkpoint; nothing of what comes after it has begun; nobody objects to an unfinished task.
fn stands_at_a_checkpoint(workspace: &Workspace, ran: &Ran, place: &str, steps: usize) {
    let expected = json!({
        "workspace": workspace.path(),
        "task": TASK,
        "directory": workspace.task_folder(TASK),
        "checkpoint": place,
    });
    assert_eq!(ran.document(), expected);
    if place == "step" {
        assert_eq!(workspace.ledger().len(), steps);
    }
    assert!(!workspace.output(TASK, "report.json").exists());
    assert!(!workspace.output(TASK, "shipment.json").exists());
    let before = workspace.files();
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    let task = &status.document()["tasks"][0];
    assert_eq!(task["task"], TASK);
    assert_ne!(task["stage"], "done");
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    assert_eq!(changes(&before, &workspace.files()), [""; 0]);
}

/// What may differ after a stop that was asked for: times, and the journal, which says that it was resumed.
fn settled(mut report: Value) -> Value {
    report["journal"] = Value::Null;
    report["generatedAt"] = Value::Null;
    report["usage"]["startedAt"] = Value::Null;
    report
}

#[test]
fn after_a_plan_was_accepted_nothing_of_it_has_begun() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable")
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    assert_eq!(workspace.select("SELECT * FROM orders"), [""; 0]);
    assert_eq!(workspace.ledger(), []);
    let last = workspace.journal(TASK).pop().unwrap();
    assert_eq!(last.body["finished"]["outputs"][3]["violations"], json!([]));
}

#[test]
fn a_concluded_task_stays_unpublished_while_that_is_asked_for() {
    let workspace = Workspace::new();
    let stop = ["--stop-after", "report"];
    let _ = demo::demo(&workspace, "stable").args(stop).run().exits(12);
    let _ = wharf("resume")
        .dir(workspace.path())
        .args(stop)
        .run()
        .exits(12);
    assert!(!workspace.output(TASK, "report.json").exists());
    let _ = wharf("resume").dir(workspace.path()).run().exits(0);
    assert_eq!(workspace.report(TASK)["status"], "completed");
}

#[test]
fn one_task_may_stop_at_different_places_and_be_resumed_by_different_planners() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "price-change")
        .args(["--stop-after", "step"])
        .run()
        .exits(12);
    // The plan stands: a planner that has nothing to say is not asked.
    let silent = workspace.script(&[]);
    let resume = || wharf("resume").dir(workspace.path());
    let _ = resume()
        .script(&silent)
        .args(["--stop-after", "step"])
        .run()
        .exits(12);
    let ran = resume().script(&silent).json().run();
    ran.refusal(1, "script-exhausted");
    let _ = resume().args(["--stop-after", "plan"]).run().exits(12);
    let _ = resume()
        .script(&silent)
        .args(["--stop-after", "report"])
        .run()
        .exits(12);
    let _ = resume().run().exits(0);
    assert_eq!(workspace.report(TASK)["usage"]["modelCalls"], 2);
    assert_eq!(workspace.report(TASK)["usage"]["actionCalls"], 5);
}

fn count(report: &Value, list: &str) -> usize {
    report[list].as_array().unwrap().len()
}
