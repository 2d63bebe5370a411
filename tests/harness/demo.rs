//! The demo's tasks, put together from its files as the command line does it.

use std::{fs, path::PathBuf};

use serde_json::Value;
use wharf::{Request, Task, core::contract::OperationKey};

use super::{Wharf, Workspace, built, command, sha256};

/// All scenarios of the demo.
pub const SCENARIOS: [&str; 5] = [
    "stable",
    "price-change",
    "unavailable",
    "no-stock",
    "lost-response",
];

/// The demo's task.
pub const TASK: &str = "demo";

/// The exit code of a scenario that nothing disturbs.
pub fn exit_code(scenario: &str) -> i32 {
    match scenario {
        "unavailable" | "no-stock" => 10,
        _ => 0,
    }
}

/// `wharf demo --scenario SCENARIO --dir DIR`.
pub fn demo(workspace: &Workspace, scenario: &str) -> Wharf {
    command::wharf("demo")
        .args(["--scenario", scenario])
        .arg("--plugin")
        .arg(built::plugin("fulfillment"))
        .dir(workspace.path())
}

/// The bytes of the reference domain's plugin.
pub fn component() -> Vec<u8> {
    fs::read(built::plugin("fulfillment")).unwrap()
}

/// The demo's request.
pub fn request() -> Value {
    let mut request: Value =
        serde_json::from_slice(&fs::read(file("request.json")).unwrap()).unwrap();
    request["plugin"]["digest"] = sha256(&component()).into();
    request
}

/// The SQL that prepares a scenario.
pub fn seed(scenario: &str) -> String {
    let manifest: Value = serde_json::from_slice(&fs::read(file("demo.json")).unwrap()).unwrap();
    let scenarios = manifest["scenarios"].as_array().unwrap();
    let found = scenarios
        .iter()
        .find(|entry| entry["name"] == scenario)
        .unwrap();
    let files = found["seed"].as_array().unwrap();
    files
        .iter()
        .map(|name| fs::read_to_string(file(name.as_str().unwrap())).unwrap() + "\n")
        .collect()
}

/// A scenario's task, for the library.
pub fn task(scenario: &str) -> Task {
    changed_task(scenario, |_| ())
}

/// A scenario's task with another request.
pub fn changed_task(scenario: &str, change: impl FnOnce(&mut Value)) -> Task {
    let mut request = request();
    change(&mut request);
    let request = Request::read(&request.to_string()).unwrap();
    let task = Task::new(request, component()).with_seed(seed(scenario));
    if scenario == "lost-response" {
        task.losing_response_of(OperationKey::new("shipment".to_owned()).unwrap())
    } else {
        task
    }
}

fn file(name: &str) -> PathBuf {
    built::plugin("fulfillment")
        .with_extension("demo")
        .join(name)
}
