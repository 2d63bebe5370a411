//! Tasks of hostile guests in the real program, and what must hold of everything that it prints and leaves.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    Wharf, Workspace, built,
    command::Ran,
    hostile::{Named, is_plain},
    script, sha256, wharf,
};

/// The task.
pub const TASK: &str = "hostile";

impl Named {
    /// Runs a task with this goal and a plan of one `add`; everything is logged.
    pub fn run(self, workspace: &Workspace, goal: &str) -> Wharf {
        let step = json!({"id": "s1", "tool": "add", "dependsOn": [], "expected": "added"});
        self.run_plan(workspace, goal, &json!([step]))
    }

    /// As [`Self::run`], with these steps.
    pub fn run_plan(self, workspace: &Workspace, goal: &str, steps: &Value) -> Wharf {
        let component = built::hostile_guest(self.guest());
        let digest = sha256(&fs::read(&component).unwrap());
        let request = json!({
            "id": TASK, "tenant": "tenant", "principal": "somebody", "goal": goal,
            "plugin": {"name": "hostile", "version": "0.1.0", "digest": digest},
            "budgets": {"maxPlans": 2, "maxActions": 4, "deadlineSeconds": 3600},
            "input": {},
        });
        let plan =
            json!({"goal": "Once.", "status": "ready", "reason": "Asked for.", "steps": steps});
        let request = workspace.handed_in("request.json", request.to_string());
        wharf("run")
            .arg("--plugin")
            .arg(component)
            .arg("--request")
            .arg(request)
            .dir(workspace.path())
            .env("WHARF_LOG", "debug")
            .script(workspace.script(&[script::says(&plan), script::says(&plan)]))
    }
}

/// Nothing that was printed moves a cursor, changes a colour, turns the order of reading, or looks like a line of the host's
/// that the guest made up.
#[track_caller]
pub fn obeys_no_terminal(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        for line in text.lines() {
            assert!(is_plain(line), "{line:?}");
            assert!(!line.starts_with("error[forged]"), "{line:?}");
        }
    }
}

/// Nothing was written beside the workspace and what the test handed in; and no file below it is named by the guest.
#[track_caller]
pub fn stays_inside(workspace: &Workspace) {
    let mut beside: Vec<_> = fs::read_dir(workspace.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    beside.sort();
    let ours = ["request.json", "script.jsonl", "workspace"];
    assert!(
        beside.iter().all(|name| ours.contains(&&**name)),
        "{beside:?}"
    );
}

/// No file below the folder contains the text, but the component itself.
#[track_caller]
pub fn holds_nowhere(folder: &Path, text: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holds_nowhere(&path, text);
        } else if path.extension().is_none_or(|end| end != "wasm") {
            let bytes = fs::read(&path).unwrap();
            let found = bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}
