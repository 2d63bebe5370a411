//! What a finished task leaves: its files, its rows, and how they belong together.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};
use wharf_tests::{
    Workspace, changes,
    demo::{self, SCENARIOS, TASK},
    sha256, wharf,
};

/// The keys of a JSON object.
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn finished(scenario: &str) -> (Workspace, Value) {
    let workspace = Workspace::new();
    let ran = demo::demo(&workspace, scenario)
        .json()
        .run()
        .exits(demo::exit_code(scenario));
    (workspace, ran.document())
}

#[test]
fn the_printed_document_has_exactly_the_promised_keys() {
    for scenario in SCENARIOS {
        let (workspace, document) = finished(scenario);
        assert_eq!(
            keys(&document),
            ["directory", "report", "task", "workspace"]
        );
        assert_eq!(document["task"], TASK);
        assert_eq!(document["workspace"], *workspace.path().to_string_lossy());
        assert_eq!(
            document["directory"],
            *workspace.task_folder(TASK).to_string_lossy()
        );
        let report = &document["report"];
        assert_eq!(*report, workspace.report(TASK), "{scenario}");
        let expected = "changes completed details generatedAt journal plans plugin result status stopReason taskId usage";
        assert_eq!(keys(report).join(" "), expected);
        assert_eq!(
            keys(&report["usage"]),
            ["actionCalls", "modelCalls", "startedAt"]
        );
        assert_eq!(keys(&report["journal"]), ["head", "records"]);
        assert_eq!(report["plugin"], demo::request()["plugin"]);
        for entry in report["completed"].as_array().unwrap() {
            let expected = "declined evidenceId operationKey replayed step version";
            assert_eq!(keys(entry).join(" "), expected);
            assert_eq!(keys(&entry["step"]).join(" "), "dependsOn expected id tool");
        }
        for time in [&report["usage"]["startedAt"], &report["generatedAt"]] {
            let time = time.as_str().unwrap();
            assert!(
                time.ends_with('Z') && time.parse::<jiff::Timestamp>().is_ok(),
                "{time}"
            );
        }
    }
}

#[test]
fn a_workspace_holds_these_files_and_no_others() {
    for scenario in SCENARIOS {
        let (workspace, document) = finished(scenario);
        let report = &document["report"];
        let component = sha256(&demo::component());
        let mut expected: BTreeSet<String> = [
            "business.sqlite",
            "memory.sqlite",
            "plugins/",
            &format!("plugins/{component}.wasm"),
            "tasks/",
            "tasks/demo/",
            "tasks/demo/.lock",
            "tasks/demo/request.json",
            "tasks/demo/policy.json",
            "tasks/demo/output/",
            "tasks/demo/output/report.json",
            "tasks/demo/output/report.md",
        ]
        .map(str::to_owned)
        .into();
        let evidence = report["completed"].as_array().unwrap();
        for entry in evidence {
            let id = entry["evidenceId"].as_str().unwrap();
            expected.insert(format!("tasks/demo/evidence/{id}.json"));
        }
        if !evidence.is_empty() {
            expected.insert("tasks/demo/evidence/".to_owned());
        }
        if report["status"] == "completed" {
            expected.insert("tasks/demo/output/shipment.json".to_owned());
        }
        if scenario == "lost-response" {
            expected.insert("tasks/demo/faults.json".to_owned());
        }
        let found: BTreeSet<String> = workspace.files().into_keys().collect();
        assert_eq!(found, expected, "{scenario}");
        let kept = workspace.path().join(format!("plugins/{component}.wasm"));
        assert!(fs::read(kept).unwrap() == demo::component());
    }
}

#[test]
fn the_request_and_its_policy_are_those_that_were_admitted() {
    let (workspace, _) = finished("stable");
    let read = |name: &str| json_of(&workspace.task_folder(TASK).join(name));
    let request = read("request.json");
    assert_eq!(request, demo::request());
    let fingerprint = sha256(request.to_string().as_bytes());
    let policy = json!({"fingerprint": fingerprint, "enabled": true, "principals": ["operator"]});
    assert_eq!(read("policy.json"), policy);
}

/// A `Value` prints with sorted keys and without blanks; with nothing but ASCII and small integers in it, that is the canonical
/// form.
#[test]
fn evidence_is_the_canonical_json_of_a_ledger_row_and_is_named_by_its_hash() {
    for scenario in SCENARIOS {
        let (workspace, document) = finished(scenario);
        let fingerprint = sha256(demo::request().to_string().as_bytes());
        let rows = workspace.ledger();
        let completed = document["report"]["completed"].as_array().unwrap();
        assert_eq!(rows.len(), completed.len(), "{scenario}");
        for (row, entry) in rows.iter().zip(completed) {
            let data: Value = serde_json::from_str(&row.data).unwrap();
            let bytes = json!({"data": data, "fingerprint": fingerprint, "operationKey": row.operation_key, "tool": row.tool})
                .to_string();
            assert!(bytes.starts_with("{\"data\":{") && bytes.contains("},\"fingerprint\":\""));
            let id = sha256(bytes.as_bytes());
            assert_eq!(entry["evidenceId"], *id);
            assert_eq!(entry["operationKey"], *row.operation_key);
            let file = workspace
                .task_folder(TASK)
                .join("evidence")
                .join(format!("{id}.json"));
            assert_eq!(fs::read_to_string(file).unwrap(), bytes);
        }
    }
}

#[test]
fn a_ledger_row_says_who_did_what_for_which_request_and_which_record_intended_it() {
    for scenario in SCENARIOS {
        let (workspace, _) = finished(scenario);
        let request = demo::request();
        let journal = workspace.journal(TASK);
        for row in workspace.ledger() {
            assert_eq!(row.plugin, "fulfillment");
            assert_eq!(row.subject, "ORDER-1001");
            assert_eq!(row.task, TASK);
            assert_eq!(row.principal, "operator");
            assert_eq!(row.fingerprint, sha256(request.to_string().as_bytes()));
            assert_eq!(
                row.input_digest,
                sha256(request["input"].to_string().as_bytes())
            );
            assert_eq!(row.arguments_digest, sha256(b"null"));
            let intent = journal
                .iter()
                .find(|record| record.sequence == row.sequence)
                .unwrap();
            assert_eq!(intent.kind, "intended");
            let graph = &intent.body["intended"]["graph"];
            assert_eq!(graph["stage"], "step");
            assert_eq!(
                graph["nodes"][1]["inputs"][0]["literal"]["perform"]["step"]["tool"],
                *row.tool
            );
        }
    }
}

#[test]
fn the_artifact_is_the_record_of_the_receipt() {
    for scenario in ["stable", "price-change", "lost-response"] {
        let (workspace, document) = finished(scenario);
        let rows = workspace.ledger();
        let receipt = rows.iter().find(|row| row.tool == "read_receipt").unwrap();
        let artifact = fs::read_to_string(workspace.output(TASK, "shipment.json")).unwrap();
        assert_eq!(artifact, receipt.data);
        let mut expected = document["report"]["result"].clone();
        expected["state"] = "receipt".into();
        assert_eq!(serde_json::from_str::<Value>(&artifact).unwrap(), expected);
    }
}

#[test]
fn the_report_names_the_journal_record_before_its_publication() {
    for scenario in SCENARIOS {
        let (workspace, document) = finished(scenario);
        let report = &document["report"];
        let journal = workspace.journal(TASK);
        let sequences: Vec<_> = journal.iter().map(|record| record.sequence).collect();
        assert_eq!(sequences, (1..=journal.len() as u64).collect::<Vec<_>>());
        assert_eq!(journal[0].kind, "admitted");
        let [.., concluded, intent, outcome] = &journal[..] else {
            panic!("{journal:?}")
        };
        assert_eq!(report["journal"]["records"], concluded.sequence);
        assert_eq!(report["journal"]["head"], *concluded.hash);
        assert_eq!(intent.body["intended"]["graph"]["stage"], "publish");
        assert_eq!(outcome.kind, "finished");
        assert_eq!(report["usage"]["startedAt"], *journal[0].at);
        assert_eq!(report["generatedAt"], *concluded.at);
    }
}

#[test]
fn the_last_record_of_a_finished_task_is_anchored() {
    for scenario in SCENARIOS {
        let (workspace, _) = finished(scenario);
        let last = workspace.journal(TASK).pop().unwrap();
        let anchors = workspace.select("SELECT task, sequence, head FROM wharf_anchors");
        assert_eq!(anchors, [format!("{TASK}|{}|{}", last.sequence, last.hash)]);
    }
}

#[test]
fn an_audit_of_a_finished_task_finds_nothing_and_writes_nothing() {
    for scenario in SCENARIOS {
        let (workspace, document) = finished(scenario);
        let before = workspace.files();
        let audit = wharf("audit").dir(workspace.path()).json().run().exits(0);
        let status = &document["report"]["status"];
        let expected = json!({"workspace": workspace.path(), "tasks": [
            {"task": TASK, "status": status, "findings": [], "skipped": []}
        ]});
        assert_eq!(audit.document(), expected, "{scenario}");
        assert_eq!(changes(&before, &workspace.files()), [""; 0]);
    }
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
