//! A workspace of each schema that was released, kept as it was written: what is built later opens it, verifies it, answers with its
//! report and goes on with its unfinished task.

use std::{fs, sync::Arc};

use serde_json::{Value, json};
use wharf::{Task, words::clock::Clock as _};
use wharf_tests::{
    Workspace,
    demo::demo,
    effects::copy_folder,
    library::{self, Scripted, TestClock},
    root, sha256, wharf,
};

/// A copy of the workspace that `tests/fixtures/workspace-1` keeps, with its component.
fn kept() -> Workspace {
    let workspace = kept_without_component();
    let component = fs::read(root().join("tests/fixtures/contract-0.1.0/component.wasm")).unwrap();
    let plugins = workspace.path().join("plugins");
    fs::create_dir(&plugins).unwrap();
    let name = format!("{}.wasm", sha256(&component));
    fs::write(plugins.join(name), component).unwrap();
    workspace
}

fn kept_without_component() -> Workspace {
    let workspace = Workspace::new();
    let fixture = root().join("tests/fixtures/workspace-1/workspace");
    copy_folder(&fixture, &workspace.path());
    workspace
}

fn tasks(workspace: &Workspace, command: &str) -> Vec<Value> {
    let ran = wharf(command).dir(workspace.path()).json().run().exits(0);
    ran.document()["tasks"].as_array().unwrap().clone()
}

#[track_caller]
fn assert_shown(workspace: &Workspace) {
    let shown = tasks(workspace, "status");
    let about = |task: &Value| {
        json!([
            task["task"],
            task["stage"],
            task["usage"]["modelCalls"],
            task["usage"]["actionCalls"]
        ])
    };
    assert_eq!(
        shown.iter().map(about).collect::<Vec<_>>(),
        [
            json!(["finished", "done", 2, 6]),
            json!(["halfway", "step", 1, 1])
        ]
    );
}

/// S3: looking changes nothing, the report is answered byte for byte.
#[test]
fn a_workspace_of_schema_1_is_shown_verified_and_answers_with_its_report() {
    let workspace = kept();
    let before = workspace.files();
    assert_shown(&workspace);
    let audited: Vec<_> = tasks(&workspace, "audit")
        .iter()
        .map(|task| {
            json!([
                task["task"],
                task["status"],
                task["findings"],
                task["skipped"]
            ])
        })
        .collect();
    assert_eq!(
        audited,
        [
            json!(["finished", "completed", [], []]),
            json!(["halfway", "running", [], []])
        ]
    );
    assert_eq!(workspace.files(), before);
    let ran = wharf("resume")
        .dir(workspace.path())
        .args(["--task", "finished"])
        .json()
        .run()
        .exits(0);
    assert_eq!(ran.document()["report"], workspace.report("finished"));
    let host = library::host(workspace.path());
    let nobody = Scripted::saying([""; 0]);
    let task = Task::Saved("finished".parse().unwrap());
    let finished = library::finish(&host, nobody.planner(), task);
    let published = fs::read_to_string(workspace.output("finished", "report.json")).unwrap();
    assert_eq!(finished.report, published);
    assert!(nobody.asked().is_empty());
}

#[test]
fn without_its_component_a_workspace_of_schema_1_is_shown_and_verified_but_for_its_plans() {
    let workspace = kept_without_component();
    assert_shown(&workspace);
    for task in tasks(&workspace, "audit") {
        assert_eq!(task["findings"], json!([]));
        let skipped = task["skipped"].as_array().unwrap();
        assert_eq!(skipped.len(), 1);
        let skipped = skipped[0].as_str().unwrap();
        assert!(
            skipped.starts_with("plans were not validated again: "),
            "{skipped}"
        );
    }
}

/// S3: under the clock of its day.
#[test]
fn the_unfinished_task_of_a_workspace_of_schema_1_is_completed() {
    let workspace = kept();
    let last = workspace.journal("halfway").pop().unwrap().at;
    let clock = TestClock::at(&last);
    clock.advance_seconds(60);
    assert!(clock.now().to_string() > last);
    let host = library::builder(workspace.path())
        .clock(Arc::clone(&clock) as _)
        .build()
        .unwrap();
    let nobody = Scripted::saying([""; 0]);
    let task = Task::Saved("halfway".parse().unwrap());
    let finished = library::finish(&host, nobody.planner(), task);
    let report: Value = serde_json::from_str(&finished.report).unwrap();
    assert_eq!(report["result"], json!({"total": 9, "declined": 0}));
    let numbers = "SELECT by FROM numbers WHERE sheet = 'green' ORDER BY by";
    assert_eq!(workspace.select(numbers), ["4", "5"]);
    drop(host);
    for task in tasks(&workspace, "audit") {
        assert_eq!(task["findings"], json!([]), "{task}");
    }
}

/// S3: what an upgrade leaves is what a fresh workspace has.
#[test]
fn the_schema_of_a_workspace_of_schema_1_is_that_of_a_fresh_one_once_it_was_opened() {
    let kept = kept();
    let _ = wharf("resume")
        .dir(kept.path())
        .args(["--task", "finished"])
        .run()
        .exits(0);
    let fresh = Workspace::new();
    let _ = demo(&fresh, "stable")
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    for database in ["business.sqlite", "memory.sqlite"] {
        let schema = |workspace: &Workspace| {
            let connection = workspace.open(database);
            let mut statement = connection
                .prepare(
                    "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema
                     WHERE tbl_name LIKE 'wharf%' OR tbl_name LIKE 'memor%' OR tbl_name = 'journal' ORDER BY type, name",
                )
                .unwrap();
            let rows = statement
                .query_map((), |row| row.get::<_, String>(0))
                .unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>()
        };
        assert!(schema(&fresh).len() > 3);
        assert_eq!(schema(&kept), schema(&fresh), "{database}");
    }
}
