//! Tasks of the plugin that does what the goal of its task says; `tests/guests/probe` has the words.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Wharf, Workspace, built, script, sha256, wharf};

/// The task.
pub const TASK: &str = "probe";

/// The plugin's component.
pub fn component() -> PathBuf {
    built::test_guest("probe")
}

/// A task with this goal.
pub fn request(goal: &str) -> Value {
    let digest = sha256(&fs::read(component()).unwrap());
    json!({
        "id": TASK, "tenant": "tenant", "principal": "somebody", "goal": goal,
        "plugin": {"name": "probe", "version": "0.1.0", "digest": digest},
        "budgets": {"maxPlans": 2, "maxActions": 4, "deadlineSeconds": 3600},
        "input": {},
    })
}

/// One step: `look`, which reads, or `change`, which writes under a key.
pub fn plan(tool: &str) -> Value {
    let expected = if tool == "look" { "seen" } else { "changed" };
    json!({"goal": "Once.", "status": "ready", "reason": "Asked for.", "steps": [
        {"id": "s1", "tool": tool, "dependsOn": [], "expected": expected},
    ]})
}

/// Runs it with that plan.
pub fn run(workspace: &Workspace, goal: &str, tool: &str) -> Wharf {
    let request = workspace.handed_in("request.json", request(goal).to_string());
    wharf("run")
        .arg("--plugin")
        .arg(component())
        .arg("--request")
        .arg(request)
        .dir(workspace.path())
        .script(workspace.script(&[script::says(plan(tool))]))
}
