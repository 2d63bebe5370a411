//! Identifiers: checked at the edge, so that none reaches a path or a statement as anything but a name.

use std::path::{Component, Path};

use proptest::prelude::*;
use serde_json::{Value, json};
use wharf::{Kind, Request, TaskId, core::plan_execute::plan_reader};
use wharf_tests::{
    Workspace, changes,
    demo::{self, TASK},
    root,
    script::{ready, says},
    sha256, wharf,
};

/// The rule, written down once more.
fn may_be_an_id(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= 80 && text.chars().all(allowed)
}

/// What looks like something else to a file system, to SQL, to a shell or to a person.
const HOSTILE: [&str; 22] = [
    "",
    ".",
    "..",
    "../demo",
    "../../etc/passwd",
    "/demo",
    "demo/",
    "demo/../demo",
    "a\\b",
    "demo.",
    "demo\0",
    "demo\n",
    " demo",
    "d\u{435}mo",
    "ｄemo",
    "demo\u{200b}",
    "demo' OR '1'='1",
    "demo'; DROP TABLE journal; --",
    "%",
    "demo*",
    "$HOME",
    "\u{1b}[2J",
];

fn anything() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[A-Za-z0-9_-]{1,90}",
        proptest::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
        ("[A-Za-z0-9_-]{0,40}", any::<char>(), "[A-Za-z0-9_-]{0,40}")
            .prop_map(|(before, odd, after)| format!("{before}{odd}{after}")),
    ]
}

proptest! {
    /// S5: a request's ids.
    #[test]
    fn an_id_of_a_request_is_refused_or_is_one_plain_name(text in anything(), field in proptest::sample::select(vec!["id", "tenant", "principal"])) {
        let mut request = json!({
            "id": "t", "tenant": "a", "principal": "p", "goal": "Do it.",
            "plugin": {"name": "n", "version": "1", "digest": "0".repeat(64)},
            "budgets": {"maxPlans": 1, "maxActions": 1, "deadlineSeconds": 1},
            "input": {},
        });
        request[field] = text.clone().into();
        match Request::read(&request.to_string()) {
            Ok(request) => {
                prop_assert!(may_be_an_id(&text), "{text:?} was accepted");
                let path = Path::new("tasks").join(request.id.as_str());
                let components: Vec<_> = path.components().collect();
                prop_assert!(matches!(components[..], [Component::Normal(_), Component::Normal(_)]));
            }
            Err(refused) => {
                prop_assert!(!may_be_an_id(&text), "{text:?} was refused");
                let refused = wharf::Error::from(refused);
                prop_assert_eq!((refused.code(), refused.kind()), ("request-form", Kind::InvalidInput));
            }
        }
        prop_assert_eq!(text.parse::<TaskId>().is_ok(), may_be_an_id(&text));
    }

    /// S5: the ids of a plan's steps, each named in what is wrong with the plan.
    #[test]
    fn an_id_of_a_step_is_refused_or_is_one_plain_name(texts in proptest::collection::vec(anything(), 1..6)) {
        let steps: Vec<_> = texts
            .iter()
            .map(|text| json!({"id": text, "tool": "t", "dependsOn": [], "expected": "e"}))
            .collect();
        let plan = json!({"goal": "g", "status": "ready", "reason": "r", "steps": steps});
        match plan_reader::read(&plan.to_string(), "stop") {
            Ok(_) => prop_assert!(texts.iter().all(|text| may_be_an_id(text))),
            Err(found) => {
                let bad = texts.iter().filter(|text| !may_be_an_id(text)).count();
                let named = found.iter().filter(|violation| violation.code == "invalid-step-id");
                prop_assert!(bad > 0);
                prop_assert_eq!(named.count(), bad);
                for violation in &found {
                    prop_assert!(!violation.message.contains(char::is_control));
                    prop_assert!(violation.step_id.as_ref().is_some_and(|id| id.chars().count() <= 81));
                }
            }
        }
    }
}

/// S5: on the command line.
#[test]
fn a_task_that_is_named_with_anything_but_an_id_is_refused_and_nothing_is_touched() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    let before = workspace.content();
    for id in HOSTILE.iter().filter(|id| !id.contains('\0')) {
        for command in ["resume", "status", "audit"] {
            let ran = wharf(command)
                .dir(workspace.path())
                .arg(format!("--task={id}"))
                .run();
            ran.refusal(2, "usage");
            assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
        }
    }
    // Ids that are none of anybody's.
    for id in ["-", "--", "_", "NULL", "select", "DEMO", &"x".repeat(80)] {
        for command in ["resume", "status", "audit"] {
            wharf(command)
                .dir(workspace.path())
                .arg(format!("--task={id}"))
                .run()
                .refusal(2, "no-task");
        }
    }
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
}

/// S5: a subject and an operation key are the plugin's own words, which may be anything; they reach no statement as SQL.
#[test]
fn what_a_plugin_names_its_subject_and_operations_is_only_text_to_the_database() {
    let component = root().join("tests/fixtures/contract-0.1.0/component.wasm");
    let digest = sha256(&std::fs::read(&component).unwrap());
    let sheets = [
        "blue'); DROP TABLE wharf_ledger; --",
        "blue' OR '1'='1",
        "%",
        "../../blue",
        "\u{1b}[2J",
    ];
    let workspace = Workspace::new();
    for (number, sheet) in sheets.iter().enumerate() {
        let id = format!("sum-{number}");
        let request = json!({
            "id": id, "tenant": "school", "principal": "pupil", "goal": "Add 2.",
            "plugin": {"name": "frozen", "version": "1.0.0", "digest": digest},
            "budgets": {"maxPlans": 1, "maxActions": 8, "deadlineSeconds": 600},
            "input": {"sheet": sheet, "most": 50},
        });
        let plan = json!({"goal": "The sum.", "status": "ready", "reason": "All numbers.", "steps": [
            {"id": "two", "tool": "add", "dependsOn": [], "expected": "added", "arguments": {"by": 2}},
            {"id": "seal", "tool": "seal", "dependsOn": ["two"], "expected": "sealed"},
        ]});
        let ran = wharf("run")
            .arg("--plugin")
            .arg(&component)
            .arg("--request")
            .arg(workspace.handed_in("request.json", request.to_string()))
            .script(workspace.script(&[says(plan)]))
            .dir(workspace.path())
            .json()
            .run()
            .exits(0);
        assert_eq!(
            ran.document()["report"]["result"],
            json!({"total": 2, "declined": 0})
        );
    }
    let subjects: Vec<_> = workspace
        .ledger()
        .into_iter()
        .map(|row| row.subject)
        .collect();
    let expected: Vec<_> = sheets.iter().flat_map(|sheet| [*sheet; 2]).collect();
    assert_eq!(subjects, expected);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

/// S5: the task of a script that names its steps as if they were somebody else's.
#[test]
fn steps_may_be_named_like_statements_and_options() {
    let workspace = Workspace::new();
    let mut plan = ready(&[
        "reserve_stock",
        "pack_order",
        "ship_standard",
        "read_receipt",
    ]);
    for (step, id) in ["--", "NULL", "DROP", "-rf"].iter().enumerate() {
        plan["steps"][step]["id"] = (*id).into();
        if step > 0 {
            plan["steps"][step]["dependsOn"] =
                Value::Array(vec![plan["steps"][step - 1]["id"].clone()]);
        }
    }
    let _ = demo::demo(&workspace, "stable")
        .script(workspace.script(&[says(plan)]))
        .run()
        .exits(0);
    assert_eq!(workspace.journal(TASK).last().unwrap().kind, "finished");
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}
