//! Several tasks in one workspace.

use serde_json::Value;
use wharf_tests::{
    Ran, Workspace,
    demo::{self, TASK},
    wharf,
};

/// The demo's request with another id and order.
fn request(id: &str, order: &str) -> Value {
    let mut request = demo::request();
    request["id"] = id.into();
    request["input"]["orderId"] = order.into();
    request
}

/// `wharf run` of a request, in a workspace that the scenario `stable` has prepared or will prepare.
fn run(workspace: &Workspace, request: &Value, options: &[&str]) -> Ran {
    let file = workspace.handed_in("request.json", request.to_string());
    wharf("run")
        .arg("--plugin")
        .arg(wharf_tests::built::plugin("fulfillment"))
        .arg("--request")
        .arg(file)
        .dir(workspace.path())
        .args(options)
        .json()
        .run()
}

fn prepared() -> Workspace {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    workspace
}

#[test]
fn run_adds_a_task_to_a_workspace_and_each_keeps_its_own() {
    let workspace = prepared();
    let first = workspace.report(TASK);
    let ran = run(&workspace, &request("second", "ORDER-2"), &[]).exits(0);
    assert_eq!(ran.document()["task"], "second");
    assert_eq!(ran.document()["report"]["result"]["orderId"], "ORDER-2");
    assert_eq!(workspace.report(TASK), first);
    let orders = workspace.select("SELECT order_id, state FROM orders ORDER BY order_id");
    assert_eq!(orders, ["ORDER-1001|shipped", "ORDER-2|shipped"]);
    assert_eq!(workspace.select("SELECT stock FROM inventory"), ["6"]);
    let tasks: Vec<_> = workspace.ledger().into_iter().map(|row| row.task).collect();
    assert_eq!(tasks.iter().filter(|task| *task == "second").count(), 4);
    assert_eq!(tasks.len(), 8);

    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    assert_eq!(named(&status.document()), [TASK, "second"]);
    let audit = wharf("audit").dir(workspace.path()).json().run().exits(0);
    assert_eq!(named(&audit.document()), [TASK, "second"]);
    let one = wharf("audit")
        .dir(workspace.path())
        .args(["--task", "second"])
        .json()
        .run()
        .exits(0);
    assert_eq!(named(&one.document()), ["second"]);
}

#[test]
fn run_goes_on_with_a_task_that_was_stopped() {
    let workspace = prepared();
    let request = request("second", "ORDER-2");
    let _ = run(&workspace, &request, &["--stop-after", "step"]).exits(12);
    let ran = run(&workspace, &request, &[]).exits(0);
    assert_eq!(ran.document()["report"]["usage"]["modelCalls"], 1);
    assert_eq!(ran.document()["report"]["usage"]["actionCalls"], 4);
}

#[test]
fn resume_takes_the_newest_unfinished_task_unless_one_is_named() {
    let workspace = prepared();
    for (id, order) in [("second", "ORDER-2"), ("third", "ORDER-3")] {
        let _ = run(&workspace, &request(id, order), &["--stop-after", "plan"]).exits(12);
    }
    let resume = || wharf("resume").dir(workspace.path()).json();
    let stopped = resume().args(["--stop-after", "step"]).run().exits(12);
    assert_eq!(stopped.document()["task"], "third");
    let named = resume().args(["--task", "second"]).run().exits(0);
    assert_eq!(named.document()["task"], "second");
    let rest = resume().run().exits(0);
    assert_eq!(rest.document()["task"], "third");
    resume().run().refusal(2, "no-unfinished-task");
    let finished = resume().args(["--task", TASK]).run().exits(0);
    assert_eq!(finished.document()["report"], workspace.report(TASK));
}

#[test]
fn resume_takes_the_only_task_even_if_it_is_finished() {
    let workspace = prepared();
    let ran = wharf("resume").dir(workspace.path()).json().run().exits(0);
    assert_eq!(ran.document()["report"], workspace.report(TASK));
}

/// X2: another task's, too.
#[test]
fn an_equal_input_on_the_same_subject_is_answered_from_the_ledger() {
    let workspace = prepared();
    let rows = workspace.ledger();
    let _ = workspace.select("SELECT 1");
    // The plugin would find the order shipped and plan only the receipt; a model that knows nothing of it proposes less.
    let ran = run(&workspace, &request("again", "ORDER-1001"), &[]).exits(0);
    let report = &ran.document()["report"];
    let completed = report["completed"].as_array().unwrap();
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0]["operationKey"], "read_receipt");
    assert_eq!(completed[0]["replayed"], true);
    assert_eq!(workspace.ledger(), rows);
    assert_eq!(workspace.select("SELECT stock FROM inventory"), ["8"]);
    let first = workspace.report(TASK);
    assert_eq!(report["result"], first["result"]);
    let evidence = |report: &Value, at: usize| report["completed"][at]["evidenceId"].clone();
    assert_eq!(evidence(report, 0), evidence(&first, 3));
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

#[test]
fn another_input_on_the_same_subject_is_a_conflict_before_anything_is_done() {
    let workspace = prepared();
    let rows = workspace.ledger();
    let mut other = request("other", "ORDER-1001");
    other["input"]["maxShippingCents"] = 400.into();
    let ran = run(&workspace, &other, &[]).exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["status"], "partial");
    assert_eq!(report["stopReason"], "subject-conflict");
    assert_eq!(report["details"][0]["code"], "subject-conflict");
    assert_eq!(report["completed"], serde_json::json!([]));
    assert_eq!(report["result"], Value::Null);
    assert_eq!(workspace.ledger(), rows);
    assert!(!workspace.output("other", "shipment.json").exists());
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

/// Changed request: refused, and nothing is written.
#[test]
fn a_changed_request_under_a_known_id_is_a_conflict() {
    let workspace = prepared();
    let before = workspace.content();
    let mut changed = demo::request();
    changed["goal"] = "Ship it tomorrow.".into();
    run(&workspace, &changed, &[]).refusal(1, "task-changed");
    changed = demo::request();
    changed["budgets"]["maxActions"] = 13.into();
    run(&workspace, &changed, &[]).refusal(1, "task-changed");
    assert_eq!(wharf_tests::changes(&before, &workspace.content()), [""; 0]);
}

fn named(document: &Value) -> Vec<String> {
    let tasks = document["tasks"].as_array().unwrap();
    tasks
        .iter()
        .map(|task| task["task"].as_str().unwrap().to_owned())
        .collect()
}
