//! Fuel budgets of a task and of a workspace: charged with what each call burnt, kept over runs, never exceeded.

use serde_json::Value;
use wharf_tests::{Ran, Wharf, Workspace, probe, script, wharf};

const METERED: &str = "preset = \"standard\"\nfuel = 5_000_000\n";

fn config(workspace: &Workspace, budgets: &str) -> String {
    let text = format!("[workspace]\n{budgets}\n\n[plugin]\n{METERED}");
    let path = workspace.handed_in("wharf.toml", text);
    path.to_str().unwrap().to_owned()
}

/// A task that may perform many steps.
fn run(workspace: &Workspace, task: &str, goal: &str) -> Wharf {
    let mut request = probe::request(goal);
    request["id"] = task.into();
    request["budgets"]["maxActions"] = 30.into();
    let file = workspace.handed_in("request.json", request.to_string());
    wharf("run")
        .arg("--plugin")
        .arg(probe::component())
        .arg("--request")
        .arg(file)
        .dir(workspace.path())
        .script(workspace.script(&[script::says(probe::plan("change"))]))
}

fn status(workspace: &Workspace) -> Value {
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    status.document()["tasks"][0].clone()
}

fn burnt(status: &Value) -> u64 {
    let calls = status["calls"].as_object().unwrap();
    calls
        .values()
        .filter_map(|call| call["fuel"].as_u64())
        .sum()
}

/// T5: what failed calls burnt is charged over all runs, until the budget is used up; with a larger one the task goes on.
#[test]
fn a_task_whose_calls_trap_runs_out_of_its_fuel_over_many_runs() {
    for (budgets, code) in [
        ("task_fuel = 3_000_000", "task-fuel-budget"),
        ("fuel = 3_000_000", "workspace-fuel-budget"),
    ] {
        let workspace = Workspace::new();
        let small = config(&workspace, budgets);
        // Its step is performed by a call that burns and traps.
        let run = run(&workspace, "one", "burn-on-perform:100000");
        let first = run.args(["--config", &small]).run();
        let _ = first.refusal(1, "plugin-trap");
        let script = workspace.folder().join("script.jsonl");
        let resume = || {
            let resume = wharf("resume").dir(workspace.path()).script(&script);
            let ran = resume.args(["--config", &small]).run().exits(1);
            ["plugin-trap", code]
                .into_iter()
                .find(|code| ran.stderr.contains(code))
                .unwrap_or_else(|| panic!("{ran:?}"))
        };
        let mut codes = Vec::new();
        while codes.last().is_none_or(|last| *last == "plugin-trap") && codes.len() < 25 {
            codes.push(resume());
        }
        assert_eq!(codes.last(), Some(&code), "{codes:?}");
        let told = status(&workspace);
        assert!(
            burnt(&told) <= 3_000_000 && burnt(&told) > 2_000_000,
            "{told}"
        );
        assert_eq!(told["status"], "running");
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);

        // The operator gives it more: it is the plugin's fault again.
        let larger = config(&workspace, &budgets.replace("3_", "30_"));
        let resume = wharf("resume").dir(workspace.path()).script(&script);
        let _ = resume
            .args(["--config", &larger])
            .run()
            .refusal(1, "plugin-trap");
    }
}

#[test]
fn status_tells_what_the_calls_used_by_export() {
    let workspace = Workspace::new();
    let config = config(&workspace, "task_fuel = 100_000_000\nfuel = 100_000_000");
    let run = probe::run(
        &workspace,
        "execute:INSERT INTO things VALUES ('one')",
        "change",
    );
    let _ = run.args(["--config", &config]).run().exits(0);
    let told = status(&workspace);
    let functions: Vec<_> = told["calls"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        functions,
        [
            "check-plan",
            "check-task",
            "conclude",
            "operation-key",
            "perform",
            "snapshot"
        ]
    );
    let perform = &told["calls"]["perform"];
    assert_eq!(
        (&perform["calls"], &perform["sqlRows"]),
        (&1.into(), &1.into())
    );
    for key in ["micros", "fuel", "memoryBytes", "hostCalls", "sqlMicros"] {
        assert!(perform[key].as_u64().unwrap() > 0, "{key}: {perform}");
    }
    let text = wharf("status").dir(workspace.path()).run().exits(0);
    assert!(
        text.stdout.contains("plugin calls 7 in "),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains(&format!("fuel {}", burnt(&told))),
        "{}",
        text.stdout
    );
}

/// Two tasks of one workspace share its budget.
#[test]
fn what_one_task_burnt_the_next_has_not() {
    let workspace = Workspace::new();
    let config = config(&workspace, "fuel = 3_000_000");
    let spent =
        |ran: &Ran| ran.code == Some(1) && ran.stderr.contains("error[workspace-fuel-budget]");
    let ends: Vec<_> = (0..40)
        .map(|n| {
            let run = run(&workspace, &format!("t{n}"), "burn:20000");
            run.args(["--config", &config]).run()
        })
        .collect();
    let done = ends.iter().take_while(|ran| ran.code == Some(0)).count();
    assert!((1..39).contains(&done), "{done}: {ends:?}");
    assert!(ends[done..].iter().all(spent), "{:?}", &ends[done..]);
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    let tasks = status.document()["tasks"].as_array().unwrap().clone();
    let all: u64 = tasks.iter().map(burnt).sum();
    assert!(all > 2_000_000 && all <= 3_000_000, "{all}");
}
