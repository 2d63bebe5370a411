//! The released contract: its text never changes, what was built against it loads for ever, and another version is refused
//! with what is spoken here.

use std::fs;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use wharf_tests::{Workspace, root, script::says, wharf};

/// SHA-256 of the released files, one after the other in the order of their names. `wit/VERSIONING.md` says what to do
/// instead of changing one.
const RELEASED: &str = "52b6ac2bc864858ae06b9240364e3f61d87bfc7f0287b63245cc030c2196100a";

/// A component as it was built on the day of the release; its source lies beside it.
const FROZEN: &str = "tests/fixtures/contract-0.1.0/component.wasm";
const FROZEN_DIGEST: &str = "20d82344c6690d8d67b563aa15588335edae17bf0b67b5c5c244f26b917fb2d7";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn frozen() -> Vec<u8> {
    fs::read(root().join(FROZEN)).unwrap()
}

#[test]
fn the_text_of_the_released_contract_never_changes() {
    let folder = root().join("wit/0.1.0");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let names: Vec<_> = files
        .iter()
        .map(|file| file.file_name().unwrap().to_str().unwrap())
        .collect();
    let released = ["business", "log", "tools", "types", "validator", "world"];
    assert_eq!(names, released.map(|name| format!("{name}.wit")));
    let text: Vec<u8> = files
        .iter()
        .flat_map(|file| fs::read(file).unwrap())
        .collect();
    assert_eq!(
        sha256(&text),
        RELEASED,
        "a released version of the contract was changed; see wit/VERSIONING.md"
    );
}

/// Its plan uses each part of the contract: arguments, a keyed write, a regular refusal, reads with and without a key, a
/// snapshot that comes back as it was written, an artifact.
#[test]
fn a_component_of_the_first_release_still_runs() {
    assert_eq!(sha256(&frozen()), FROZEN_DIGEST);
    let workspace = Workspace::new();
    let request = json!({
        "id": "sum", "tenant": "school", "principal": "pupil", "goal": "Add 2, 90 and 3.",
        "plugin": {"name": "frozen", "version": "1.0.0", "digest": FROZEN_DIGEST},
        "budgets": {"maxPlans": 1, "maxActions": 8, "deadlineSeconds": 600},
        "input": {"sheet": "blue", "most": 50},
    });
    let step = |id: &str, tool: &str, expected: &str, after: &[&str]| json!({"id": id, "tool": tool, "dependsOn": after, "expected": expected});
    let add = |id: &str, by: u32, after: &[&str]| {
        let mut step = step(id, "add", "added", after);
        step["arguments"] = json!({"by": by});
        step
    };
    let plan = json!({
        "goal": "The sum.", "status": "ready", "reason": "All numbers.",
        "steps": [
            add("two", 2, &[]),
            add("ninety", 90, &["two"]),
            add("three", 3, &["ninety"]),
            step("look", "look", "looked", &["three"]),
            step("seal", "seal", "sealed", &["look"]),
        ],
    });
    let answer = wharf("run")
        .arg("--plugin")
        .arg(root().join(FROZEN))
        .arg("--request")
        .arg(workspace.handed_in("request.json", request.to_string()))
        .script(workspace.script(&[says(plan)]))
        .dir(workspace.path())
        .json()
        .run()
        .exits(0)
        .document();
    let report = &answer["report"];
    assert_eq!(report["result"], json!({"total": 5, "declined": 1}));
    let completed: Vec<_> = report["completed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["operationKey"].as_str(), step["declined"] == true))
        .collect();
    assert_eq!(
        completed,
        [
            (Some("add/2"), false),
            (Some("add/90"), true),
            (Some("add/3"), false),
            (None, false),
            (Some("seal"), false),
        ]
    );
    assert_eq!(
        workspace.select("SELECT operation_key, data FROM wharf_ledger ORDER BY sequence"),
        [
            r#"add/2|{"by":2,"rows":1}"#,
            r#"add/3|{"by":3,"rows":1}"#,
            r#"seal|{"total":5}"#,
        ]
    );
    let looked = report["completed"][3]["evidenceId"].as_str().unwrap();
    let looked = workspace
        .task_folder("sum")
        .join(format!("evidence/{looked}.json"));
    let looked: Value = serde_json::from_slice(&fs::read(looked).unwrap()).unwrap();
    assert_eq!(looked["data"], json!({"total": 5, "denied": true}));
    let artifact = fs::read_to_string(workspace.output("sum", "total.txt")).unwrap();
    assert_eq!(artifact, "5\n");
    let audit = wharf("audit")
        .dir(workspace.path())
        .json()
        .run()
        .exits(0)
        .document();
    assert_eq!(audit["tasks"][0]["skipped"], Value::Array(vec![]));
}

#[test]
fn a_component_of_another_version_is_refused_with_what_is_found_and_supported() {
    let other: Vec<u8> = {
        // The version stands in the names of the interfaces alone, and has the same length.
        let mut bytes = frozen();
        let old = b"@0.1.0";
        for at in 0..bytes.len() - old.len() {
            if &bytes[at..at + old.len()] == old {
                bytes[at..at + old.len()].copy_from_slice(b"@0.2.0");
            }
        }
        bytes
    };
    let workspace = Workspace::new();
    let component = workspace.handed_in("component.wasm", &other);
    let request = json!({
        "id": "sum", "tenant": "school", "principal": "pupil", "goal": "Add.",
        "plugin": {"name": "frozen", "version": "1.0.0", "digest": sha256(&other)},
        "budgets": {"maxPlans": 1, "maxActions": 8, "deadlineSeconds": 600},
        "input": {"sheet": "blue", "most": 50},
    });
    let ran = wharf("run")
        .arg("--plugin")
        .arg(&component)
        .arg("--request")
        .arg(workspace.handed_in("request.json", request.to_string()))
        .dir(workspace.path())
        .run();
    let [what, _, fix] = ran.refusal(2, "plugin-contract-version");
    assert_eq!(
        what,
        "the component uses version 0.2.0 of the contract, this host speaks 0.1.0"
    );
    assert!(fix.starts_with("build the plugin against a supported version"));
    assert!(workspace.files().is_empty());
}
