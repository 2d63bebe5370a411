//! A native call was under way when the process was killed: nobody knows what it did.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
};

use serde_json::{Value, json};
use wharf::{
    RunOptions,
    core::{
        agent::request::{AgentBudgets, AgentFields, AgentRequest},
        tools::{Tool, ToolBody, ToolCall, ToolDescriptor, ToolError},
    },
    host::{AgentOutcome, AgentTask},
    technologies::script_planner::ScriptPlanner,
};
use wharf_tests::{Workspace, library, patience, script};

use super::{audited, calls};

/// Names the folder of the workspace that a child is for.
const CHILD: &str = "WHARF_TESTS_LOST_OUTCOME";

/// Writes a line, and does not come back while a file stands there.
struct Announce(PathBuf);

impl Tool for Announce {
    fn run<'a>(
        &'a self,
        _: &'a ToolCall<'a>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send + 'a>> {
        Box::pin(async move {
            let file = self.0.join("announced");
            let mut file = OpenOptions::new()
                .append(true)
                .create(true)
                .open(file)
                .unwrap();
            writeln!(file, "announced").unwrap();
            if self.0.join("hangs").exists() {
                std::future::pending::<()>().await;
            }
            Ok(json!({ "announced": true }))
        })
    }
}

/// One task of an agent that may call it.
fn run(folder: PathBuf, idempotent: bool) -> Value {
    let mut descriptor =
        ToolDescriptor::new("announce", "Announces it.", json!({ "type": "object" }));
    if idempotent {
        descriptor = descriptor.idempotent();
    }
    let host = library::builder(folder.join("workspace"))
        .register_tool(
            descriptor,
            ToolBody::Native(Arc::new(Announce(folder.clone()))),
        )
        .build()
        .unwrap();
    let lines = [
        calls(&[("announce", json!({}))]),
        script::says("Announced."),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("script.jsonl"), text).unwrap();
    let model = ScriptPlanner::read(&folder.join("script.jsonl")).unwrap();
    let agent = host.make_agent(Arc::new(model));
    let request = AgentRequest::new(&AgentFields {
        id: "t".parse().unwrap(),
        tenant: "acme".parse().unwrap(),
        principal: "tester".parse().unwrap(),
        agent: "crier".parse().unwrap(),
        prompt: "Announce it.".into(),
        budgets: AgentBudgets::STANDARD,
        ask: Vec::new(),
        deny: Vec::new(),
    });
    let task = AgentTask::new(request.unwrap());
    let ran = host.run_agent(&agent, task, RunOptions::default());
    match library::block_on(ran).unwrap() {
        AgentOutcome::Finished(finished) => serde_json::from_str(&finished.report).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Kills a process of its own in the middle of the call, and goes on in this one.
fn killed_within_the_call(test: &str, idempotent: bool) -> Option<(Value, usize, Workspace)> {
    if let Some(folder) = std::env::var_os(CHILD) {
        let _ = run(folder.into(), idempotent);
        return None;
    }
    let workspace = Workspace::new();
    let folder = workspace.folder();
    let announced = || fs::read_to_string(folder.join("announced")).unwrap_or_default();
    File::create(folder.join("hangs")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(CHILD, &folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    patience::until("the call is under way", || !announced().is_empty());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    fs::remove_file(folder.join("hangs")).unwrap();
    let report = run(folder.clone(), idempotent);
    let lines = announced().lines().count();
    Some((report, lines, workspace))
}

#[test]
fn a_native_call_that_was_killed_is_told_as_unknown_and_not_made_again() {
    let test =
        "agent::lost_outcomes::a_native_call_that_was_killed_is_told_as_unknown_and_not_made_again";
    let Some((report, announced, workspace)) = killed_within_the_call(test, false) else {
        return;
    };
    assert_eq!(announced, 1);
    assert_eq!(
        report["toolCalls"][0]["outcome"], "outcome-unknown",
        "{report}"
    );
    assert_eq!(
        (&report["answer"], &report["usage"]["toolCalls"]),
        (&json!("Announced."), &json!(1))
    );
    audited(&workspace);
}

#[test]
fn a_native_call_that_is_idempotent_is_made_again() {
    let test = "agent::lost_outcomes::a_native_call_that_is_idempotent_is_made_again";
    let Some((report, announced, workspace)) = killed_within_the_call(test, true) else {
        return;
    };
    assert_eq!(announced, 2);
    assert_eq!(report["toolCalls"][0]["outcome"], "done", "{report}");
    assert_eq!(report["usage"]["toolCalls"], 2, "each attempt is charged");
    audited(&workspace);
}
