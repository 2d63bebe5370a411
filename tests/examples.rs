//! The examples run as their heads say.

use std::{path::Path, process::Command};

use wharf_tests::{Workspace, built, wharf};

/// Standard output of an example, called with the reference domain and a directory that does not exist yet.
fn example(name: &str) -> String {
    example_in(name, tempfile::tempdir().unwrap().path())
}

fn example_in(name: &str, folder: &Path) -> String {
    let output = Command::new(built::example(name))
        .arg(built::plugin("fulfillment"))
        .arg(folder.join("workspace"))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stderr, "");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn embed_runs_an_order_and_prints_its_report() {
    let output = example("embed");
    let (progress, report) = output.rsplit_once("Completed: ").unwrap();
    assert!(progress.contains("admitted"), "{progress}");
    assert!(progress.contains("publish"), "{progress}");
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["result"]["carrier"], "standard");
}

#[test]
fn resume_goes_on_after_a_cancellation() {
    assert_eq!(
        example("resume"),
        "first run: Cancelled\nsecond run: Completed\nclean: true\n"
    );
}

/// A native tool, the tools of a plugin, and a plan that the one agent begins and the other ends.
#[test]
fn two_agents_share_a_plan_and_call_native_tools_and_those_of_a_plugin() {
    let workspace = Workspace::new();
    assert_eq!(
        example_in("agents", &workspace.folder()),
        "alice: It is windy; somebody else may pack.\nbob: It is packed.\n"
    );
    let plan = "SELECT version, content FROM memories WHERE id = 'plan:current'";
    let [plan] = &workspace.select_in("memory.sqlite", plan)[..] else {
        panic!("one plan");
    };
    assert!(
        plan.starts_with("3|") && !plan.contains("pending"),
        "{plan}"
    );
    let rows = workspace.ledger();
    let of_bob: Vec<_> = rows
        .iter()
        .filter(|row| row.task == "task-of-bob")
        .map(|row| row.tool.as_str())
        .collect();
    assert_eq!(of_bob, ["reserve_stock", "pack_order"]);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}
