//! Guests that aim at what the operator sees and keeps: the terminal, the log, the report and the folder it stands in
//! (`tests/hostile/guests`). Each runs in the real program.

use serde_json::json;
use wharf_tests::{
    Workspace, guest,
    hostile::{BEHAVE, Named, STANDARD, attack, attack_alone, fails, is_plain, violates},
    hostile_program::{TASK, holds_nowhere, obeys_no_terminal, stays_inside},
    wharf,
};

/// The password in the text of `panics_with_a_secret`.
const SECRET: &str = "hunter2-of-the-zoo";

/// The program ends with 1 and this code; nothing is done, no terminal is obeyed, and the guest works in the next run.
#[track_caller]
fn is_stopped(named: Named, goal: &str, code: &str) -> [String; 3] {
    let workspace = Workspace::new();
    let ran = named.run(&workspace, goal).run();
    obeys_no_terminal(&ran);
    let lines = ran.refusal(1, code);
    stays_inside(&workspace);
    works(named);
    lines
}

/// The guest completes a task, now that it does not attack.
#[track_caller]
fn works(named: Named) {
    let workspace = Workspace::new();
    let ran = named.run(&workspace, BEHAVE).run().exits(0);
    obeys_no_terminal(&ran);
    assert_eq!(workspace.ledger().len(), 1);
    assert_eq!(workspace.select("SELECT id FROM things"), [TASK]);
}

/// E5: in the text of a panic.
#[test]
fn panics_with_escape_sequences() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        fails(attack.check_task(), "plugin-panic");
    });
    let [_, why, _] = is_stopped(named, "attack", "plugin-panic");
    assert!(
        why.contains(r"\u{1b}[2J\u{1b}[31mred\u{9b}1m\r\nerror[forged]"),
        "{why}"
    );
}

/// E5: in log lines and on standard output and error.
#[test]
fn logs_escape_sequences() {
    let named = guest!();
    let workspace = Workspace::new();
    let ran = named.run(&workspace, "attack").run().exits(0);
    obeys_no_terminal(&ran);
    let escaped = r"\u{1b}[2J\u{1b}[31mred\u{9b}1m";
    assert!(ran.stderr.matches(escaped).count() >= 3, "{}", ran.stderr);
    assert!(!ran.stdout.contains("red"), "{}", ran.stdout);
    works(named);
}

/// E5: in a refusal, in a failure, and in what a planner is told.
#[test]
fn answers_escape_sequences() {
    let named = guest!();
    for (goal, exit) in [("refuse", 2), ("admit", 11)] {
        let workspace = Workspace::new();
        let ran = named.run(&workspace, goal).run();
        obeys_no_terminal(&ran);
        assert_eq!(ran.code, Some(exit), "{ran:?}");
        let status = wharf("status").dir(workspace.path()).run();
        obeys_no_terminal(&status);

        // For programs: as JSON has it, one line whatever the plugin says.
        let ran = named.run(&Workspace::new(), goal).json().run();
        let line = ran.stdout.strip_suffix('\n').unwrap_or(&ran.stdout);
        assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
        assert!(ran.stderr.lines().all(is_plain), "{}", ran.stderr);
    }
    works(named);
}

#[test]
fn summarises_in_escape_sequences() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        for goal in ["sequence", "lines", "blank"] {
            let why = violates(attack.conclude_of(goal));
            assert!(why.contains("the summary is not one line of text"), "{why}");
        }
    });
    is_stopped(named, "sequence", "plugin-contract-violation");
    is_stopped(named, "lines", "plugin-contract-violation");
}

#[test]
fn climbs_out_of_its_folder() {
    let named = guest!();
    let names = [
        "../thing",
        "/tmp/wharf-zoo-thing",
        "a/b",
        r"..\thing",
        r"C:\thing",
        "..",
        ".",
        ".hidden",
        "a\u{202e}b",
        "a:b",
        "thing\n",
        "-\u{1b}[2J",
    ];
    attack(named, STANDARD, |attack| {
        for name in names {
            violates(attack.conclude_of(name));
        }
    });
    is_stopped(named, "../../thing", "plugin-contract-violation");
    is_stopped(named, "/tmp/wharf-zoo-thing", "plugin-contract-violation");
    assert!(!std::path::Path::new("/tmp/wharf-zoo-thing").exists());
}

#[test]
fn takes_the_reports_name() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        for name in ["report.json", "report.md", "REPORT.JSON", "Report.anything"] {
            violates(attack.conclude_of(name));
        }
    });
    is_stopped(named, "report.json", "plugin-contract-violation");
}

/// What the host keeps does not hold it.
#[test]
fn panics_with_a_secret() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        fails(attack.perform("add"), "plugin-panic");
    });
    let workspace = Workspace::new();
    let ran = named.run(&workspace, "attack").run();
    let [_, why, _] = ran.refusal(1, "plugin-panic");
    assert!(why.contains("redis://[scrubbed]@host/0"), "{why}");
    assert!(!ran.stderr.contains(SECRET), "{ran:?}");
    holds_nowhere(&workspace.path(), SECRET);
    works(named);
}

#[test]
fn floods_the_log() {
    let named = guest!();
    attack_alone(named, STANDARD, |attack| {
        fails(attack.check_task(), "plugin-log-limit");
    });
    is_stopped(named, "attack", "plugin-log-limit");
}

/// Ordinary output is dropped beyond the log's limits, and ends with the calls that a plugin may make.
#[test]
fn floods_standard_output() {
    let named = guest!();
    attack_alone(named, STANDARD, |attack| {
        fails(attack.check_task(), "plugin-host-call-limit");
    });
    let workspace = Workspace::new();
    let ran = named.run(&workspace, "attack").run();
    let _ = ran.refusal(1, "plugin-host-call-limit");
    let most = 2 * STANDARD.log_bytes.get();
    assert!(ran.stderr.len() < most, "{} bytes", ran.stderr.len());
    works(named);
}

/// The plugin accepts what the host does not.
#[test]
fn accepts_everything() {
    let named = guest!();
    let step = |tool: &str, expected: &str, before: &[&str]| json!({"id": "s1", "tool": tool, "dependsOn": before, "expected": expected});
    let good = step("add", "added", &[]);
    let plans = [
        vec![step("launch", "added", &[])],
        vec![step("add", "seen", &[])],
        vec![step("add", "added", &["s0"])],
        vec![good.clone(), good.clone()],
        vec![step("add", "added", &["s1"])],
    ];
    attack(named, STANDARD, |attack| {
        assert_eq!(attack.check_plan().unwrap(), []);
    });
    for steps in plans {
        let workspace = Workspace::new();
        let ran = named
            .run_plan(&workspace, "attack", &json!(steps))
            .json()
            .run()
            .exits(11);
        assert_eq!(
            ran.document()["report"]["stopReason"],
            "invalid-plan",
            "{steps:?}"
        );
        assert_eq!(workspace.ledger(), []);
        assert_eq!(workspace.select("SELECT id FROM things"), [""; 0]);
    }
    works(named);
}

/// The rows are those of the step, and the ledger has it once.
#[test]
fn contradicts_its_snapshot() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        let snapshot = attack.snapshot().unwrap().unwrap();
        assert_eq!(snapshot.as_str(), r#"{"things": 1000000}"#);
    });
    let workspace = Workspace::new();
    let _ = named.run(&workspace, "attack").run().exits(0);
    assert_eq!(workspace.select("SELECT id FROM things"), [TASK]);
    assert_eq!(workspace.ledger().len(), 1);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    works(named);
}

/// The claim is in the report, beside what was done.
#[test]
fn lies_in_its_conclusion() {
    let named = guest!();
    attack(named, STANDARD, |attack| {
        let conclusion = attack.conclude().unwrap().unwrap();
        assert!(conclusion.result.as_str().contains("1000"));
    });
    let workspace = Workspace::new();
    let _ = named.run(&workspace, "attack").run().exits(0);
    let report = workspace.report(TASK);
    assert_eq!(report["result"], json!({"steps": 1000, "things": 1000}));
    assert_eq!(report["usage"]["actionCalls"], 1, "{report}");
    let ledger = workspace.ledger();
    assert_eq!((ledger.len(), &*ledger[0].data), (1, r#"{"done":true}"#));
    assert_eq!(workspace.select("SELECT id FROM things"), [TASK]);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    works(named);
}
