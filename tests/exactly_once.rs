//! A business operation has one key, and happens once, however often it is planned, tried or resumed. The plugin is one that has
//! no guard of its own: each call of its tool adds a row.

use serde_json::{Value, json};
use wharf::{Checkpoint, Outcome, Request, RunOptions, Task, core::contract::OperationKey};
use wharf_tests::{
    Workspace, built,
    library::{self, Scripted},
    sha256,
};

fn component() -> Vec<u8> {
    std::fs::read(built::test_guest("probe")).unwrap()
}

fn task() -> Task {
    let component = component();
    let request = json!({
        "id": "count", "tenant": "tenant", "principal": "somebody",
        "goal": "execute:INSERT INTO things SELECT 'n' || count(*) FROM things",
        "plugin": {"name": "probe", "version": "0.1.0", "digest": sha256(&component)},
        "budgets": {"maxPlans": 3, "maxActions": 6, "deadlineSeconds": 3600},
        "input": {},
    });
    Task::new(Request::read(&request.to_string()).unwrap(), component)
}

/// A plan that asks for the one operation once for each id.
fn plan(ids: &[&str]) -> Value {
    let step =
        |id: &&str| json!({"id": id, "tool": "change", "dependsOn": [], "expected": "changed"});
    let steps: Vec<_> = ids.iter().map(step).collect();
    json!({"goal": "Once.", "status": "ready", "reason": "Asked for.", "steps": steps})
}

fn completed(report: &str) -> Vec<(u64, String, String, bool)> {
    let report: Value = serde_json::from_str(report).unwrap();
    let entries = report["completed"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            (
                entry["version"].as_u64().unwrap(),
                entry["step"]["id"].as_str().unwrap().to_owned(),
                entry["operationKey"].as_str().unwrap().to_owned(),
                entry["replayed"] == true,
            )
        })
        .collect()
}

fn entry(version: u64, step: &str, replayed: bool) -> (u64, String, String, bool) {
    (version, step.to_owned(), "change".to_owned(), replayed)
}

#[track_caller]
fn assert_once(workspace: &Workspace) {
    assert_eq!(workspace.select("SELECT id FROM things"), ["n0"]);
    let keys: Vec<_> = workspace
        .ledger()
        .into_iter()
        .map(|row| row.operation_key)
        .collect();
    assert_eq!(keys, ["change"]);
}

/// X2: after a response that was lost, the model plans the same operation again, as another step of another plan.
#[test]
fn an_operation_that_is_planned_again_after_a_lost_response_is_answered_from_the_ledger() {
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    let model = Scripted::saying([plan(&["first"]), plan(&["again"])]);
    let task = task().losing_response_of(OperationKey::new("change".to_owned()).unwrap());
    let finished = library::finish(&host, model.planner(), task);
    assert_eq!(finished.status.code(), "completed");
    assert_eq!(
        completed(&finished.report),
        [entry(1, "first", true), entry(2, "again", true)]
    );
    assert_once(&workspace);
}

/// X3: neither the attempt nor the place in the log nor the step's name is part of a key.
#[test]
fn an_operation_has_one_key_whatever_the_step_the_attempt_and_the_run() {
    let workspace = Workspace::new();
    let model = Scripted::saying([plan(&["a", "b", "c"])]);
    let mut stops = 0;
    let finished = loop {
        // Each with a host of its own, as another process has.
        let host = library::host(workspace.path());
        let mut options = RunOptions::default();
        options.stop_after = Some(Checkpoint::Step);
        match library::run(&host, model.planner(), task(), options).unwrap() {
            Outcome::Checkpoint(Checkpoint::Step) => stops += 1,
            Outcome::Finished(finished) => break finished,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stops, 3);
    assert_eq!(
        completed(&finished.report),
        [
            entry(1, "a", false),
            entry(1, "b", true),
            entry(1, "c", true)
        ]
    );
    assert_once(&workspace);
}
