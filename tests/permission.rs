//! `policy.json`: whoever edits it is obeyed by the next tool call.

use std::fs;

use serde_json::{Value, json};
use wharf_tests::{
    Workspace,
    demo::{self, TASK},
    gated::Gated,
    wharf,
};

/// How a policy is withdrawn, and the code of the refusal.
const WITHDRAWN: [(&str, &str); 6] = [
    ("disabled", "policy-disabled"),
    ("principal removed", "principal-not-allowed"),
    ("missing", "policy-missing"),
    ("garbage", "policy-malformed"),
    ("an unknown member", "policy-malformed"),
    ("another request's", "policy-other-request"),
];

fn withdraw(workspace: &Workspace, how: &str) {
    let path = workspace.task_folder(TASK).join("policy.json");
    let mut policy: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    match how {
        "missing" => return fs::remove_file(&path).unwrap(),
        "garbage" => return fs::write(&path, r#"{"enabled": true"#).unwrap(),
        "disabled" => policy["enabled"] = false.into(),
        "principal removed" => policy["principals"] = json!(["somebody-else"]),
        "an unknown member" => policy["tools"] = json!([]),
        "another request's" => policy["fingerprint"] = wharf_tests::sha256(b"").into(),
        other => panic!("{other}"),
    }
    fs::write(&path, policy.to_string()).unwrap();
}

fn planned() -> Workspace {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable")
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    workspace
}

/// Revoked permission: in the midst of a run, in every way.
#[test]
fn a_permission_that_is_withdrawn_stops_the_next_tool_call() {
    let planned = planned();
    for (how, code) in WITHDRAWN {
        let workspace = planned.copy();
        let policy = workspace.task_folder(TASK).join("policy.json");
        let granted = fs::read(&policy).unwrap();
        // The first step is committed, its outcome and the second step's intent are about to be appended.
        let mut run = Gated::start(wharf("resume").dir(workspace.path()), &workspace);
        assert_eq!([run.go_on(), run.go_on()], [None, None]);
        let effects = workspace.effects();
        withdraw(&workspace, how);
        let ended = run.release();
        assert_eq!(
            (ended.code, &*ended.stdout),
            (Some(1), ""),
            "{how}: {ended:?}"
        );
        let error = format!("error[{code}]: ");
        assert!(
            ended.said.iter().any(|line| line.starts_with(&error)),
            "{how}: {ended:?}"
        );
        assert_eq!(workspace.effects(), effects, "{how}");
        fs::write(&policy, granted).unwrap();
        let answer = wharf("resume")
            .dir(workspace.path())
            .json()
            .run()
            .exits(0)
            .document();
        // The call that was refused had been reserved.
        assert_eq!(answer["report"]["usage"]["actionCalls"], 5, "{how}");
        assert_eq!(workspace.ledger().len(), 4, "{how}");
    }
}

#[test]
fn a_permission_that_was_withdrawn_between_two_runs_stops_the_second_before_it_does_anything() {
    let planned = planned();
    let _ = wharf("resume")
        .dir(planned.path())
        .args(["--stop-after", "step"])
        .run()
        .exits(12);
    for (how, code) in WITHDRAWN {
        let workspace = planned.copy();
        let policy = workspace.task_folder(TASK).join("policy.json");
        let granted = fs::read(&policy).unwrap();
        withdraw(&workspace, how);
        let before = workspace.standing();
        wharf("resume").dir(workspace.path()).run().refusal(1, code);
        assert_eq!(workspace.standing(), before, "{how}");
        // Looking is not acting.
        let _ = wharf("status").dir(workspace.path()).run().exits(0);
        fs::write(&policy, granted).unwrap();
        let answer = wharf("resume")
            .dir(workspace.path())
            .json()
            .run()
            .exits(0)
            .document();
        assert_eq!(answer["report"]["usage"]["actionCalls"], 4, "{how}");
    }
}
