//! Killed anywhere, an agent goes on; and so does another one with its plan.

use std::process::Command;

use model_server::{Piece, Reply, Server};
use serde_json::{Value, json};
use wharf_tests::{
    Workspace, built, command::compile_cache, crash_matrix::Case, patience::PATIENCE, script,
    skipped, trace, wharf,
};

use super::{audited, calls, lines, plan, report, resume, step, stored_plan, tool_calls};

/// What issue and design promise: the plan survives a kill, and another agent goes on with it.
#[test]
fn a_plan_survives_a_kill_and_is_continued_by_another_agent() {
    let write = calls(&[plan(&[("first", "completed"), ("second", "in_progress")])]);
    let server = Server::start(vec![
        tool_calls(&write),
        Reply::new(200).pieces(vec![Piece::Hang]),
    ])
    .unwrap();
    let workspace = Workspace::new();
    let run = wharf("agent").args(["--task", "one", "--agent", "alice", "--prompt", "Begin."]);
    let mut child = run
        .dir(workspace.path())
        .model(&server)
        .into_command()
        .spawn()
        .unwrap();
    assert!(server.wait_for(2, PATIENCE));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);

    let lines = [
        calls(&[("plan_read", json!({"history": true}))]),
        calls(&[(
            "plan_write",
            json!({"step": step("second", "completed"), "expectedVersion": 1}),
        )]),
        script::says("Finished what alice began."),
    ];
    let run = wharf("agent").args(["--task", "two", "--agent", "bob", "--prompt", "Go on."]);
    let run = run
        .dir(workspace.path())
        .script(workspace.script(&lines))
        .json();
    let _ = run.run().exits(0);
    assert_eq!(
        stored_plan(&workspace),
        (
            vec!["first completed".to_owned(), "second completed".to_owned()],
            2
        )
    );
    let told = workspace.select_in(
        "memory.sqlite",
        "SELECT body FROM journal WHERE task = 'two' AND kind = 'finished'",
    );
    assert!(
        told.iter()
            .any(|body| body.contains("\"updatedBy\":\"alice\"") && body.contains("\"history\"")),
        "{told:?}"
    );

    // And alice's own task goes on as well.
    let resumed = wharf("resume")
        .args(["--task", "one"])
        .dir(workspace.path());
    let line = [Value::Null, script::says("Alice is done.")];
    let lines = [write, line[1].clone()];
    let ran = resumed
        .script(workspace.script(&lines))
        .json()
        .run()
        .exits(0);
    assert_eq!(report(&ran)["answer"], "Alice is done.");
    assert_eq!(report(&ran)["usage"]["turns"], 3);
    audited(&workspace);
}

/// Issue 4's matrix over the second Loop: killed at every change of the workspace.
#[test]
fn an_agent_survives_a_kill_anywhere() {
    if !trace::is_possible() {
        return skipped("this machine does not let a process trace its child");
    }
    let covered = Case::agent(lines(), &[]).clean().crash_matrix();
    assert!(covered.changes > 60 && covered.kills > 30, "{covered:?}");
}

#[test]
fn an_agent_survives_a_power_loss_anywhere() {
    if !trace::is_possible() {
        return skipped("this machine does not let a process trace its child");
    }
    let covered = Case::agent(lines(), &[])
        .clean()
        .power_loss_matrix(1)
        .unwrap();
    assert!(covered.syncs > 10, "{covered:?}");
}

/// The example of two agents: a native tool that reads, and a plugin's tools, each of which has its effect once whatever is killed.
#[test]
fn agents_with_a_plugins_tools_survive_a_kill_anywhere() {
    if !trace::is_possible() {
        return skipped("this machine does not let a process trace its child");
    }
    let start = |workspace: &Workspace| {
        let mut command = Command::new(built::example("agents"));
        command
            .arg(built::plugin("fulfillment"))
            .arg(workspace.path())
            .arg(compile_cache());
        command
    };
    let case = Case::program(start, "task-of-bob");
    // What comes before is a task of the other pattern, whose matrices are elsewhere.
    let clean = case.clean().after_change_of("task-of-alice");
    let covered = clean.crash_matrix();
    assert!(covered.changes > 100 && covered.kills > 60, "{covered:?}");
}

/// A call that waits for a person is killed while it waits, and while the decision is written.
#[test]
fn an_approval_survives_a_kill_anywhere() {
    if !trace::is_possible() {
        return skipped("this machine does not let a process trace its child");
    }
    let lines = [calls(&[plan(&[("a", "pending")])]), script::says("Done.")];
    let waiting = Workspace::new();
    let run = wharf("agent").args(["--task", "t", "--prompt", "p", "--ask", "plan_write"]);
    let run = run.dir(waiting.path()).script(waiting.script(&lines));
    let _ = run.run().exits(13);
    let approve = |workspace: &Workspace| {
        let command = wharf("approve").args(["--task", "t", "--by", "chief"]);
        command.dir(workspace.path()).into_command()
    };
    let clean = waiting.copy();
    let changes = trace::record(approve(&clean), &clean.folder())
        .changes
        .len();
    assert!(changes > 3, "{changes}");
    for at in 0..changes {
        for moment in [trace::Moment::Before(at), trace::Moment::After(at)] {
            let workspace = waiting.copy();
            let _ = trace::kill_at(approve(&workspace), &workspace.folder(), moment);
            // Either it stands or it does not; then it is given again.
            let again = wharf("approve").args(["--task", "t", "--by", "chief"]);
            let again = again.dir(workspace.path()).run();
            assert!(
                again.code == Some(0) || again.stderr.contains("error[nothing-waits]"),
                "{moment:?}: {again:?}"
            );
            let report = report(&resume(&workspace, &lines).exits(0));
            assert_eq!(report["toolCalls"][0]["approvedBy"], "chief", "{moment:?}");
            assert_eq!(stored_plan(&workspace).1, 1, "{moment:?}");
            audited(&workspace);
        }
    }
}
