//! Retention: finished tasks go, what they did stays, and an audit knows the difference.

use std::{fs, path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use wharf::{
    RunOptions,
    core::agent::request::{AgentBudgets, AgentFields, AgentRequest},
    host::{self, AgentOutcome, AgentTask},
    technologies::script_planner::ScriptPlanner,
    words::clock::{Clock as _, SystemClock},
};
use wharf_tests::{
    Ran, Workspace,
    demo::{self, TASK},
    library, script, skipped, trace, wharf,
};

fn gc(workspace: &Workspace, older_than: &str) -> Ran {
    wharf("gc")
        .args(["--older-than", older_than])
        .dir(workspace.path())
        .json()
        .run()
}

fn audit(workspace: &Workspace) -> Value {
    let ran = wharf("audit").dir(workspace.path()).json().run();
    ran.document()["tasks"].clone()
}

/// A finished demo, and an agent that is not finished.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    let run = wharf("agent").args(["--task", "open", "--prompt", "p", "--tenant", "demo"]);
    let run = run.dir(workspace.path()).script(workspace.script(&[]));
    let _ = run.run().exits(1);
    workspace
}

#[test]
fn what_is_finished_and_old_is_removed_and_what_it_did_stays() {
    let workspace = workspace();
    let effects = workspace.effects();
    let fingerprint = workspace.report(TASK)["requestFingerprint"].clone();

    let kept = gc(&workspace, "1d").exits(0).document();
    assert_eq!(
        (&kept["removed"], &kept["kept"]),
        (
            &json!([]),
            &json!({"recent": 2, "unfinished": 0, "owned": 0})
        )
    );
    let removed = gc(&workspace, "0s").exits(0).document();
    let [task] = &removed["removed"].as_array().unwrap()[..] else {
        panic!("{removed}");
    };
    assert_eq!(removed["kept"]["unfinished"], 1);
    assert_eq!(
        (&task["task"], &task["status"]),
        (&json!(TASK), &json!("completed"))
    );
    if !fingerprint.is_null() {
        assert_eq!(task["fingerprint"], fingerprint);
    }
    assert_eq!(workspace.effects(), effects);
    assert!(!workspace.task_folder(TASK).exists());
    assert!(workspace.journal(TASK).is_empty());
    assert!(workspace.task_folder("open").exists());

    let tasks = audit(&workspace);
    let standing: Vec<_> = tasks
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            (
                task["task"].clone(),
                task["status"].clone(),
                task["findings"].clone(),
            )
        })
        .collect();
    assert_eq!(
        standing,
        [
            (json!("open"), json!("running"), json!([])),
            (json!(TASK), json!("removed"), json!([])),
        ]
    );
    // Nothing brings it back, and nothing of it happens again.
    for command in ["status", "resume"] {
        let ran = wharf(command).args(["--task", TASK]);
        let ran = ran.dir(workspace.path()).json().run();
        assert!(
            ran.code == Some(1) && ran.stderr.contains("error[task-removed]"),
            "{ran:?}"
        );
    }
    let again = demo::demo(&workspace, "stable").run();
    assert_ne!(again.code, Some(0), "{again:?}");
    assert_eq!(workspace.effects(), effects);
    let nothing = gc(&workspace, "0s").exits(0).document();
    assert_eq!(nothing["removed"], json!([]));
}

#[test]
fn a_ledger_row_of_a_removed_task_is_still_guarded() {
    for change in [
        "UPDATE wharf_ledger SET data = '{}' WHERE rowid = 1",
        "DELETE FROM wharf_ledger WHERE rowid = 2",
        "UPDATE wharf_anchors SET sequence = sequence - 1 WHERE task = 'demo'",
    ] {
        let workspace = workspace();
        let _ = gc(&workspace, "0s").exits(0);
        workspace.tamper("business.sqlite", change);
        let tasks = audit(&workspace);
        let removed = tasks.as_array().unwrap().last().unwrap();
        assert_eq!(
            removed["findings"][0]["code"], "tombstone-differs",
            "{change}: {tasks}"
        );
    }
}

#[test]
fn what_is_damaged_or_owned_stays() {
    let workspace = workspace();
    workspace.tamper(
        "memory.sqlite",
        "UPDATE journal SET at = '2020-01-01T00:00:00Z' WHERE task = 'demo' AND sequence = 3",
    );
    let before = workspace.journal(TASK);
    let ran = gc(&workspace, "0s").exits(1).document();
    assert_eq!(ran["damaged"][0]["task"], TASK, "{ran}");
    assert_eq!(workspace.journal(TASK), before);

    let workspace = self::workspace();
    let lock = workspace.task_folder(TASK).join(".lock");
    let lock = fs::File::open(lock).unwrap();
    lock.lock().unwrap();
    let ran = gc(&workspace, "0s").exits(0).document();
    assert_eq!(ran["kept"]["owned"], 1, "{ran}");
    drop(lock);
    assert_eq!(
        gc(&workspace, "0s").exits(0).document()["removed"][0]["task"],
        TASK
    );
}

#[test]
fn a_duration_that_is_none_removes_nothing() {
    let workspace = workspace();
    let before = workspace.files();
    for wrong in ["", "30", "1 month", "-1d", "soon"] {
        let ran = wharf("gc").arg(format!("--older-than={wrong}"));
        let [what, ..] = ran.dir(workspace.path()).run().refusal(2, "usage");
        assert!(what.contains("--older-than"), "{what}");
    }
    assert_eq!(workspace.files(), before);
}

#[test]
fn a_removal_that_is_killed_anywhere_is_finished_by_the_next() {
    if !trace::is_possible() {
        return skipped("this machine does not let a process trace its child");
    }
    let finished = Workspace::new();
    let _ = demo::demo(&finished, "stable").run().exits(0);
    let effects = finished.effects();
    let command = |workspace: &Workspace| {
        let gc = wharf("gc").args(["--older-than", "0s"]);
        gc.dir(workspace.path()).into_command()
    };
    let clean = finished.copy();
    let changes = trace::record(command(&clean), &clean.folder())
        .changes
        .len();
    assert!(changes > 8, "{changes}");
    for at in 0..changes {
        let workspace = finished.copy();
        let _ = trace::kill_at(
            command(&workspace),
            &workspace.folder(),
            trace::Moment::Before(at),
        );
        let clean = audit(&workspace);
        assert_eq!(clean[0]["findings"], json!([]), "{at}: {clean}");
        let _ = gc(&workspace, "0s").exits(0);
        assert!(!workspace.task_folder(TASK).exists(), "{at}");
        assert_eq!(audit(&workspace)[0]["status"], "removed", "{at}");
        assert_eq!(workspace.effects(), effects, "{at}");
    }
}

/// Ten thousand tasks come and go: a removed one leaves its anchor and its tombstone, and everything else is used again.
#[test]
fn a_workspace_that_is_swept_does_not_grow_with_its_tasks() {
    const ROUND: usize = 1000;
    const ROUNDS: usize = 10;
    const LEFT_OF_EACH: u64 = 1024;
    let workspace = Workspace::in_memory();
    let directory = workspace.path();
    let line = workspace.script(&[script::says("Done.")]);
    let host = library::host(&directory);
    let agent = host.make_agent(Arc::new(ScriptPlanner::read(&line).unwrap()));
    let mut sizes = Vec::new();
    for round in 0..ROUNDS {
        library::block_on(async {
            for number in 0..ROUND {
                let request = AgentRequest::new(&AgentFields {
                    id: format!("task-{round}-{number}").parse().unwrap(),
                    tenant: "acme".parse().unwrap(),
                    principal: "tester".parse().unwrap(),
                    agent: "tester".parse().unwrap(),
                    prompt: "Say that it is done.".into(),
                    budgets: AgentBudgets::STANDARD,
                    ask: Vec::new(),
                    deny: Vec::new(),
                });
                let task = AgentTask::new(request.unwrap());
                let ran = host.run_agent(&agent, task, RunOptions::default()).await;
                assert!(matches!(ran.unwrap(), AgentOutcome::Finished(_)));
            }
        });
        let now = SystemClock.now();
        let report = host::gc(&directory, now + Duration::from_secs(1), now).unwrap();
        assert_eq!(report.removed.len(), ROUND);
        sizes.push(size(&directory));
    }
    let growth = sizes[ROUNDS - 1].saturating_sub(sizes[0]);
    let removed = (ROUNDS - 1) * ROUND;
    assert!(growth < removed as u64 * LEFT_OF_EACH, "{sizes:?}");
    let audit = host::audit(&directory, None, None, &wharf::HostLimits::standard()).unwrap();
    assert_eq!(audit.tasks.len(), ROUNDS * ROUND);
    assert!(audit.is_clean());
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                size(&path)
            } else {
                path.metadata().unwrap().len()
            }
        })
        .sum()
}
