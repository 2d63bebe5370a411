//! A plugin that traps, runs into a limit or answers outside the contract: the run ends with exit code 1 and says which call
//! it was, nothing of that call is left, and the task stays where it is.

use wharf_tests::{Workspace, probe, script, wharf};

const CHANGE: &str = "INSERT INTO things VALUES ('half')";

#[test]
fn a_fault_while_a_step_is_performed_leaves_nothing_half_done_and_the_task_resumable() {
    let panics = format!("execute-then-panic:{CHANGE}");
    let lies = format!("execute-then-lie:{CHANGE}");
    let spins = format!("execute-then-spin:{CHANGE}");
    for (goal, code) in [
        (&*panics, "plugin-panic"),
        (&*lies, "plugin-contract-violation"),
        (&*spins, "plugin-deadline"),
        ("data:{", "plugin-contract-violation"),
        ("data-bytes:70000", "plugin-output-limit"),
    ] {
        let workspace = Workspace::new();
        let [what, ..] = probe::run(&workspace, goal, "change")
            .run()
            .refusal(1, code);
        assert!(what.contains("perform"), "{what}");
        assert_eq!(workspace.ledger(), [], "{goal}");
        assert_eq!(workspace.select("SELECT * FROM things"), [""; 0], "{goal}");
        let status = wharf("status").dir(workspace.path()).json().run().exits(0);
        let status = &status.document()["tasks"][0];
        assert_eq!(
            (&status["status"], &status["usage"]["actionCalls"]),
            (&"running".into(), &1.into())
        );
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);

        // It is the plugin that is at fault: the same again, at the cost of another action, until none is left.
        let script = workspace.script(&[script::says(probe::plan("change"))]);
        for _ in 1..4 {
            let resume = wharf("resume").dir(workspace.path()).script(&script);
            let _ = resume.run().refusal(1, code);
        }
        let last = wharf("resume").dir(workspace.path()).script(&script).json();
        let report = last.run().exits(11).document()["report"].clone();
        assert_eq!(report["stopReason"], "max-actions", "{goal}");
        assert_eq!(workspace.select("SELECT * FROM things"), [""; 0], "{goal}");
    }
}

/// `trap-at:1` traps on a plan of one step, and nowhere else.
#[test]
fn a_fault_while_a_plan_is_checked_ends_the_run_before_anything_is_done() {
    let workspace = Workspace::new();
    let ran = probe::run(&workspace, "trap-at:1", "change").run();
    let [what, ..] = ran.refusal(1, "plugin-panic");
    assert!(what.contains("check-plan"), "{what}");
    assert_eq!(workspace.ledger(), []);
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    assert_eq!(status.document()["tasks"][0]["status"], "running");
}

/// The task is not admitted, so there is nothing to resume, and nothing is written.
#[test]
fn a_fault_while_a_task_is_checked_leaves_no_trace() {
    let workspace = Workspace::new();
    let _ = probe::run(&workspace, "refuse-silently", "change")
        .run()
        .refusal(1, "plugin-contract-violation");
    assert!(workspace.files().is_empty());
}
