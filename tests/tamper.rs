//! Somebody edits what a task has left behind: audit names it and where it stands, and a resume refuses it or repairs it, but does
//! nothing again.

use std::{fs, path::PathBuf, sync::LazyLock};

use serde_json::Value;
use wharf::Planner;
use wharf_tests::{
    Workspace, built,
    demo::{self, TASK},
    library, wharf,
};

/// A completed task; not to be changed.
static COMPLETED: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    let host = library::host(workspace.path());
    library::finish(&host, Planner::Search, demo::task("price-change"));
    workspace
});

/// One that has completed two steps of four; not to be changed.
static HALFWAY: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    let until_a_step = |run: wharf_tests::Wharf| run.args(["--stop-after", "step"]).run().exits(12);
    let _ = until_a_step(demo::demo(&workspace, "stable"));
    let _ = until_a_step(wharf("resume").dir(workspace.path()));
    workspace
});

/// What audit finds: codes and places. It changes nothing, whatever it finds.
#[track_caller]
fn findings(workspace: &Workspace) -> Vec<(String, String)> {
    let before = workspace.files();
    let ran = wharf("audit").dir(workspace.path()).json().run();
    assert_eq!(workspace.files(), before);
    let audit = ran.document();
    let findings = audit["tasks"][0]["findings"].as_array().unwrap();
    assert_eq!(ran.code, Some(i32::from(!findings.is_empty())), "{audit}");
    let text = |finding: &Value, member: &str| finding[member].as_str().unwrap().to_owned();
    for finding in findings {
        let can_be_repaired = ["-torn", "-missing"].iter().any(|end| {
            let code = text(finding, "code");
            code.ends_with(end) && (code.starts_with("output") || code.starts_with("evidence"))
        });
        let says_so = text(finding, "message").contains("`wharf resume` writes it again");
        assert_eq!(can_be_repaired, says_so, "{finding}");
    }
    findings
        .iter()
        .map(|finding| (text(finding, "code"), text(finding, "place")))
        .collect()
}

#[track_caller]
fn assert_finds(workspace: &Workspace, code: &str, place: &str) {
    assert_eq!(findings(workspace), [(code.to_owned(), place.to_owned())]);
}

/// A resume is refused, and leaves everything as it is.
#[track_caller]
fn assert_refused(workspace: &Workspace, code: &str) {
    let before = workspace.standing();
    wharf("resume").dir(workspace.path()).run().refusal(1, code);
    assert_eq!(workspace.standing(), before);
}

/// A resume brings back what the task once was, and performs nothing.
#[track_caller]
fn assert_repaired(workspace: &Workspace) {
    let _ = wharf("resume").dir(workspace.path()).run().exits(0);
    assert_eq!(findings(workspace), []);
    let restored = |workspace: &Workspace| {
        ["output", "evidence"].map(|folder| {
            let folder = workspace.task_folder(TASK).join(folder);
            let names = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = names
                .map(|path| {
                    (
                        path.file_name().unwrap().to_owned(),
                        fs::read(path).unwrap(),
                    )
                })
                .collect();
            files.sort();
            files
        })
    };
    assert_eq!(restored(workspace), restored(&COMPLETED));
    assert_eq!(workspace.effects(), COMPLETED.effects());
    assert_eq!(workspace.journal(TASK), COMPLETED.journal(TASK));
}

const OUTPUTS: [&str; 3] = ["report.json", "report.md", "shipment.json"];

fn evidence(workspace: &Workspace, step: usize) -> (PathBuf, String) {
    let folder = workspace.task_folder(TASK).join("evidence");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    (
        folder.join(&names[step]),
        format!("evidence/{}", names[step]),
    )
}

/// What a lost write may leave of a file's bytes.
fn torn(bytes: &[u8]) -> [Vec<u8>; 4] {
    let half = bytes.len() / 2;
    let mut tail_of_nuls = bytes[..half].to_vec();
    tail_of_nuls.resize(bytes.len(), 0);
    [
        Vec::new(),
        bytes[..half].to_vec(),
        vec![0; bytes.len()],
        tail_of_nuls,
    ]
}

/// What no lost write leaves of them.
fn edited(bytes: &[u8]) -> [Vec<u8>; 3] {
    let mut one_other = bytes.to_vec();
    one_other[bytes.len() / 2] ^= 1;
    let longer = [bytes, b"\n"].concat();
    [one_other, longer, b"{}".to_vec()]
}

/// Publication retried after a conflict: once the file is out of the way.
#[test]
fn a_published_file_that_was_changed_is_never_overwritten() {
    for name in OUTPUTS {
        let path = COMPLETED.output(TASK, name);
        for bytes in edited(&fs::read(path).unwrap()) {
            let workspace = COMPLETED.copy();
            let path = workspace.output(TASK, name);
            fs::write(&path, bytes).unwrap();
            assert_finds(&workspace, "output-changed", &format!("output/{name}"));
            assert_refused(&workspace, "file-conflict");
            // As the refusal advises: once it is out of the way, the file is written again.
            fs::rename(&path, workspace.path().join("theirs")).unwrap();
            assert_repaired(&workspace);
        }
    }
}

#[test]
fn a_file_that_stands_where_a_task_is_about_to_publish_is_never_overwritten() {
    let workspace = HALFWAY.copy();
    fs::create_dir(workspace.task_folder(TASK).join("output")).unwrap();
    let path = workspace.output(TASK, "report.json");
    fs::write(&path, "theirs").unwrap();
    wharf("resume")
        .dir(workspace.path())
        .run()
        .refusal(1, "file-conflict");
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    // Nothing beside it is published either.
    assert!(!workspace.output(TASK, "shipment.json").exists());
    assert_finds(&workspace, "output-changed", "output/report.json");
    fs::remove_file(&path).unwrap();
    let _ = wharf("resume").dir(workspace.path()).run().exits(0);
    assert_eq!(findings(&workspace), []);
}

#[test]
fn a_published_file_that_is_torn_or_missing_is_found_and_written_again() {
    for name in OUTPUTS {
        let place = format!("output/{name}");
        let workspace = COMPLETED.copy();
        let path = workspace.output(TASK, name);
        for bytes in torn(&fs::read(&path).unwrap()) {
            fs::write(&path, bytes).unwrap();
            assert_finds(&workspace, "output-torn", &place);
            assert_repaired(&workspace);
        }
        fs::remove_file(&path).unwrap();
        assert_finds(&workspace, "output-missing", &place);
        assert_repaired(&workspace);
    }
}

#[test]
fn evidence_that_is_torn_or_missing_is_found_and_written_again() {
    let workspace = COMPLETED.copy();
    let (path, place) = evidence(&workspace, 0);
    for bytes in torn(&fs::read(&path).unwrap()) {
        fs::write(&path, bytes).unwrap();
        assert_finds(&workspace, "evidence-torn", &place);
        assert_repaired(&workspace);
    }
    fs::remove_file(&path).unwrap();
    assert_finds(&workspace, "evidence-missing", &place);
    assert_repaired(&workspace);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(findings(&workspace).len(), 4);
    assert_repaired(&workspace);
}

/// Tampered evidence: refused, and nothing is done.
#[test]
fn evidence_that_was_edited_is_found_and_stops_the_task_finished_or_not() {
    for task in [&COMPLETED, &HALFWAY] {
        let (path, place) = evidence(task, 1);
        for bytes in edited(&fs::read(path).unwrap()) {
            let workspace = task.copy();
            fs::write(evidence(&workspace, 1).0, bytes).unwrap();
            assert_finds(&workspace, "evidence-changed", &place);
            assert_refused(&workspace, "evidence-changed");
        }
    }
}

#[test]
fn evidence_of_nothing_that_was_recorded_is_found() {
    let workspace = COMPLETED.copy();
    let path = workspace.task_folder(TASK).join("evidence/0.json");
    fs::write(path, "{}").unwrap();
    assert_finds(&workspace, "evidence-foreign", "evidence/0.json");
}

#[test]
fn a_ledger_row_that_was_edited_in_any_column_is_found() {
    let columns = COMPLETED.select("SELECT name FROM pragma_table_info('wharf_ledger')");
    for column in &columns {
        let (value, codes): (_, &[_]) = match &**column {
            "plugin" | "subject" | "operation_key" => {
                ("'other'", &["ledger-row-missing", "ledger-row-unknown"])
            }
            "task" | "principal" | "tool" => ("'other'", &["ledger-row-differs"]),
            "fingerprint" | "input_digest" | "arguments_digest" => (
                "'0000000000000000000000000000000000000000000000000000000000000000'",
                &["ledger-row-differs"],
            ),
            "data" => ("replace(data, '400', '300')", &["ledger-row-differs"]),
            "sequence" => ("sequence + 1", &["ledger-row-unknown"]),
            // It is the time of the record that intended the operation.
            "at" => ("'2026-01-01T00:00:00Z'", &["ledger-row-differs"]),
            other => panic!("{other}: what does audit find?"),
        };
        let workspace = COMPLETED.copy();
        workspace.tamper(
            "business.sqlite",
            &format!("UPDATE wharf_ledger SET {column} = {value} WHERE operation_key = 'shipment'"),
        );
        let found = findings(&workspace);
        assert!(!found.is_empty(), "{column}");
        for (code, place) in found {
            assert!(codes.contains(&&*code), "{column}: {code}");
            let key = if column == "operation_key" && code == "ledger-row-unknown" {
                "other"
            } else {
                "shipment"
            };
            assert_eq!(place, format!("wharf_ledger: {key}"), "{column}");
        }
    }
}

#[test]
fn a_ledger_row_that_was_edited_or_deleted_stops_the_task_and_nothing_is_performed_again() {
    let edit = "UPDATE wharf_ledger SET data = '{}' WHERE operation_key = 'pack_order'";
    let delete = "DELETE FROM wharf_ledger WHERE operation_key = 'pack_order'";
    for task in [&COMPLETED, &HALFWAY] {
        for (sql, code) in [(edit, "ledger-row-differs"), (delete, "ledger-row-missing")] {
            let workspace = task.copy();
            workspace.tamper("business.sqlite", sql);
            assert_finds(&workspace, code, "wharf_ledger: pack_order");
            assert_refused(&workspace, code);
        }
    }
}

/// Not only another value: one that no row has.
#[test]
fn a_ledger_row_that_was_overwritten_with_anything_is_named_as_a_row_of_the_ledger() {
    for column in ["task", "principal", "fingerprint", "data", "at"] {
        // One that a resume compares with the journal.
        let workspace = HALFWAY.copy();
        workspace.tamper(
            "business.sqlite",
            &format!("UPDATE wharf_ledger SET {column} = '?' WHERE operation_key = 'pack_order'"),
        );
        let before = workspace.standing();
        for command in ["audit", "resume"] {
            let ran = wharf(command).dir(workspace.path()).run();
            if column == "task" && command == "audit" {
                // No row of this task any more.
                assert_eq!(ran.code, Some(1), "{ran:?}");
                assert!(
                    format!("{ran:?}").contains("pack_order")
                        || ran.stderr.contains("row-malformed"),
                    "{ran:?}"
                );
                continue;
            }
            let [what, ..] = ran.refusal(1, "row-malformed");
            assert!(
                what.contains("business.sqlite holds a ledger row"),
                "{what}"
            );
        }
        assert_eq!(workspace.standing(), before);
    }
}

#[test]
fn a_ledger_row_that_was_inserted_is_found() {
    for task in [&COMPLETED, &HALFWAY] {
        let workspace = task.copy();
        workspace.tamper(
            "business.sqlite",
            "INSERT INTO wharf_ledger SELECT plugin, subject, 'refund', task, principal, fingerprint, input_digest, tool,
                 arguments_digest, data, 999, at FROM wharf_ledger WHERE operation_key = 'pack_order'",
        );
        assert_finds(&workspace, "ledger-row-unknown", "wharf_ledger: refund");
    }
}

/// S6: edit, insert, delete, reorder, truncation.
#[test]
fn a_journal_that_was_edited_deleted_from_inserted_into_reordered_or_cut_is_found_and_refused() {
    let last = COMPLETED.journal(TASK).len();
    let edit = |what: &str| {
        (
            format!("UPDATE journal SET {what} WHERE sequence = 8"),
            "journal-hash",
            8,
        )
    };
    let cases = [
        edit(r#"body = replace(body, '"reserveAction":2', '"reserveAction":1')"#),
        edit("body = body || ' '"),
        edit("at = '2026-01-01T00:00:00Z'"),
        edit("kind = 'resumed'"),
        edit("hash = (SELECT hash FROM journal WHERE sequence = 7)"),
        ("DELETE FROM journal WHERE sequence = 8".to_owned(), "journal-gap", 9),
        ("DELETE FROM journal WHERE sequence = 1".to_owned(), "journal-gap", 2),
        (
            "UPDATE journal SET sequence = sequence + 100 WHERE sequence > 8;
             INSERT INTO journal SELECT task, 9, kind, at, body, hash FROM journal WHERE sequence = 8;
             UPDATE journal SET sequence = sequence - 99 WHERE sequence > 100;"
                .to_owned(),
            "journal-hash",
            9,
        ),
        (
            "UPDATE journal SET sequence = 100 WHERE sequence = 8;
             UPDATE journal SET sequence = 8 WHERE sequence = 9;
             UPDATE journal SET sequence = 9 WHERE sequence = 100;"
                .to_owned(),
            "journal-hash",
            8,
        ),
    ];
    for (sql, code, record) in cases {
        let workspace = COMPLETED.copy();
        workspace.tamper("memory.sqlite", &sql);
        let found = findings(&workspace);
        let expected = (code.to_owned(), format!("journal: record {record}"));
        assert!(found.contains(&expected), "{sql}: {found:?}");
        assert_refused(&workspace, code);
    }
    for kept in [1, 8, last - 1] {
        let workspace = COMPLETED.copy();
        let sql = format!("DELETE FROM journal WHERE sequence > {kept}");
        workspace.tamper("memory.sqlite", &sql);
        let found = findings(&workspace);
        let expected = ("journal-cut".to_owned(), format!("journal: record {last}"));
        assert!(found.contains(&expected), "{kept}: {found:?}");
        assert_refused(&workspace, "journal-cut");
    }
}

#[test]
fn a_task_whose_whole_journal_was_deleted_is_missed_and_not_begun_again() {
    let workspace = COMPLETED.copy();
    let request = workspace.handed_in("again.json", demo::request().to_string());
    let mut other = demo::request();
    other["id"] = "other".into();
    other["input"]["orderId"] = "ORDER-2".into();
    let other = workspace.handed_in("other.json", other.to_string());
    let run = |request: &PathBuf| {
        wharf("run")
            .arg("--plugin")
            .arg(built::plugin("fulfillment"))
            .arg("--request")
            .arg(request)
            .dir(workspace.path())
            .run()
    };
    let last = workspace.journal(TASK).len();
    for others in 0..2 {
        workspace.tamper("memory.sqlite", "DELETE FROM journal WHERE task = 'demo'");
        let before = workspace.standing();
        let audit = wharf("audit")
            .dir(workspace.path())
            .json()
            .run()
            .exits(1)
            .document();
        let tasks = audit["tasks"].as_array().unwrap();
        assert_eq!(tasks.len(), others + 1, "{audit}");
        let missed = tasks.iter().find(|task| task["task"] == TASK).unwrap();
        let place = format!("journal: record {last}");
        let cut = |finding: &Value| finding["code"] == "journal-cut" && finding["place"] == place;
        assert!(
            missed["findings"].as_array().unwrap().iter().any(cut),
            "{audit}"
        );
        wharf("resume")
            .dir(workspace.path())
            .args(["--task", TASK])
            .run()
            .refusal(1, "journal-cut");
        run(&request).refusal(1, "journal-cut");
        assert_eq!(workspace.standing(), before);
        if others == 0 {
            fs::copy(
                COMPLETED.path().join("memory.sqlite"),
                workspace.path().join("memory.sqlite"),
            )
            .unwrap();
            // Both carriers are too dear by now: it asks a person.
            let _ = run(&other);
        }
    }
}

#[test]
fn a_request_that_was_edited_damaged_or_deleted_is_found_and_refused() {
    let request = fs::read_to_string(COMPLETED.task_folder(TASK).join("request.json")).unwrap();
    let cases = [
        (
            Some(request.replace("ORDER-1001", "ORDER-1002")),
            "task-changed",
        ),
        (Some(request.replace("500", "900")), "task-changed"),
        (Some(request.replace('}', "")), "request-damaged"),
        (
            Some(request.replace("\"demo\"", "\"other\"")),
            "request-damaged",
        ),
        (None, "request-missing"),
    ];
    for (text, code) in cases {
        for task in [&COMPLETED, &HALFWAY] {
            let workspace = task.copy();
            let path = workspace.task_folder(TASK).join("request.json");
            match &text {
                Some(text) => fs::write(path, text).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            assert_finds(&workspace, code, "request.json");
            assert_refused(&workspace, code);
            let status = wharf("status").dir(workspace.path()).run();
            let _ = status.refusal(1, code);
        }
    }
}

#[test]
fn a_policy_that_was_damaged_deleted_or_another_request_s_is_found() {
    let other = format!(
        r#"{{"fingerprint":"{}","enabled":true,"principals":["operator"]}}"#,
        wharf_tests::sha256(b"")
    );
    let cases = [
        (Some(&*other), "policy-other-request"),
        (Some("{"), "policy-malformed"),
        (None, "policy-missing"),
    ];
    for (text, code) in cases {
        let workspace = COMPLETED.copy();
        let path = workspace.task_folder(TASK).join("policy.json");
        match text {
            Some(text) => fs::write(path, text).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        assert_finds(&workspace, code, "policy.json");
        assert_refused(&workspace, code);
    }
}

fn component(workspace: &Workspace) -> PathBuf {
    let name = format!("{}.wasm", wharf_tests::sha256(&demo::component()));
    workspace.path().join("plugins").join(name)
}

/// C6: the pinned bytes, and no others.
#[test]
fn a_component_whose_bytes_were_changed_is_found_and_refused() {
    let other = fs::read(built::test_guest("probe")).unwrap();
    for bytes in edited(&demo::component())
        .into_iter()
        .chain([other, Vec::new()])
    {
        for task in [&COMPLETED, &HALFWAY] {
            let workspace = task.copy();
            fs::write(component(&workspace), &bytes).unwrap();
            assert_finds(&workspace, "component-changed", "plugins");
            assert_refused(&workspace, "component-changed");
        }
    }
}

/// C7: history outlives the plugin.
#[test]
fn without_its_component_a_task_can_still_be_read_and_verified_but_for_its_plans() {
    for task in [&COMPLETED, &HALFWAY] {
        let workspace = task.copy();
        fs::remove_file(component(&workspace)).unwrap();
        let audit = wharf("audit")
            .dir(workspace.path())
            .json()
            .run()
            .exits(0)
            .document();
        let skipped = audit["tasks"][0]["skipped"].as_array().unwrap();
        assert_eq!(skipped.len(), 1, "{audit}");
        let said = skipped[0].as_str().unwrap();
        assert!(
            said.starts_with("plans were not validated again: "),
            "{said}"
        );
        let status = |workspace: &Workspace| {
            let mut status = wharf("status")
                .dir(workspace.path())
                .json()
                .run()
                .exits(0)
                .document();
            let task = &mut status["tasks"][0];
            task["directory"].take();
            task["timeLeftMs"].take();
            task.take()
        };
        assert_eq!(status(&workspace), status(task));
        assert_refused(&workspace, "component-missing");
    }
}

#[test]
fn an_anchor_that_was_edited_is_found_and_one_that_is_missing_is_added() {
    let workspace = COMPLETED.copy();
    let head = wharf_tests::sha256(b"");
    workspace.tamper(
        "business.sqlite",
        &format!("UPDATE wharf_anchors SET head = '{head}'"),
    );
    let last = COMPLETED.journal(TASK).len();
    assert_finds(
        &workspace,
        "journal-cut",
        &format!("journal: record {last}"),
    );
    assert_refused(&workspace, "journal-cut");
    // Where only the last one is missing, which follows the last record: the one of the last operation stands.
    let operation = COMPLETED.ledger().last().unwrap().sequence;
    let head = &COMPLETED.journal(TASK)[usize::try_from(operation).unwrap() - 1].hash;
    workspace.tamper(
        "business.sqlite",
        &format!("UPDATE wharf_anchors SET sequence = {operation}, head = '{head}'"),
    );
    assert_eq!(findings(&workspace), []);
    assert_repaired(&workspace);
    let anchors = |workspace: &Workspace| workspace.select("SELECT * FROM wharf_anchors");
    assert_eq!(anchors(&workspace), anchors(&COMPLETED));
    // Each operation was committed with an anchor.
    workspace.tamper("business.sqlite", "DELETE FROM wharf_anchors");
    assert_finds(&workspace, "anchor-missing", "wharf_anchors");
    assert_refused(&workspace, "anchor-missing");
}
