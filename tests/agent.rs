//! The second Loop as its users meet it: an agent that plans with tools, stops, waits, is killed, and goes on.

mod calls;
mod kills;
mod lost_outcomes;

use model_server::{Reply, Server};
use serde_json::{Value, json};
use wharf_tests::{Ran, Workspace, script, wharf};

/// One answer that calls tools.
fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| json!({"id": format!("c{at}"), "name": name, "arguments": arguments});
    let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
    json!({"toolCalls": calls, "finishReason": "tool_calls"})
}

fn step(id: &str, status: &str) -> Value {
    json!({"id": id, "title": format!("Do {id}."), "status": status})
}

fn plan(steps: &[(&str, &str)]) -> (&'static str, Value) {
    let steps: Vec<_> = steps.iter().map(|(id, status)| step(id, status)).collect();
    ("plan_write", json!({"plan": {"steps": steps}}))
}

/// A plan, some work, the plan kept true, and an answer.
fn lines() -> Vec<Value> {
    vec![
        calls(&[plan(&[("look", "in_progress"), ("tell", "pending")])]),
        calls(&[
            (
                "memory_add",
                json!({"content": "the sky is blue", "scope": "facts"}),
            ),
            ("plan_write", json!({"step": step("look", "completed")})),
        ]),
        calls(&[
            ("memory_search", json!({"text": "sky"})),
            (
                "plan_write",
                json!({"step": step("tell", "in_progress"), "expectedVersion": 2}),
            ),
        ]),
        calls(&[
            ("plan_write", json!({"step": step("tell", "completed")})),
            ("plan_read", json!({})),
        ]),
        script::says("It is blue."),
    ]
}

fn agent(workspace: &Workspace, lines: &[Value]) -> wharf_tests::Wharf {
    wharf("agent")
        .args(["--task", "t", "--prompt", "What colour is the sky?"])
        .dir(workspace.path())
        .script(workspace.script(lines))
        .json()
}

fn resume(workspace: &Workspace, lines: &[Value]) -> Ran {
    wharf("resume")
        .args(["--task", "t"])
        .dir(workspace.path())
        .script(workspace.script(lines))
        .json()
        .run()
}

fn report(ran: &Ran) -> Value {
    ran.document()["report"].clone()
}

fn status(workspace: &Workspace) -> Value {
    let ran = wharf("status")
        .args(["--task", "t"])
        .dir(workspace.path())
        .json()
        .run()
        .exits(0);
    ran.document()["tasks"][0].clone()
}

#[track_caller]
fn audited(workspace: &Workspace) {
    let _ = wharf("audit").dir(workspace.path()).json().run().exits(0);
}

/// The steps of the current plan, as `id status`, and its version.
fn stored_plan(workspace: &Workspace) -> (Vec<String>, u64) {
    let rows = workspace.select_in(
        "memory.sqlite",
        "SELECT content, version FROM memories WHERE id = 'plan:current'",
    );
    let (content, version) = rows[0].rsplit_once('|').unwrap();
    let plan: Value = serde_json::from_str(content).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let steps = plan["steps"].as_array().unwrap();
    let steps = steps
        .iter()
        .map(|step| format!("{} {}", text(&step["id"]), text(&step["status"])));
    (steps.collect(), version.parse().unwrap())
}

#[test]
fn an_agent_plans_acts_keeps_its_plan_true_and_answers() {
    let workspace = Workspace::new();
    let ran = agent(&workspace, &lines()).run().exits(0);
    let document = ran.document();
    let report = report(&ran);
    assert_eq!(document["task"], "t");
    assert_eq!(
        (&report["status"], &report["stopReason"]),
        (&json!("completed"), &json!("answered"))
    );
    assert_eq!(report["answer"], "It is blue.");
    assert_eq!(
        (&report["usage"]["turns"], &report["usage"]["toolCalls"]),
        (&json!(5), &json!(7))
    );
    let outcomes: Vec<_> = report["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["outcome"])
        .collect();
    assert!(
        outcomes.iter().all(|outcome| *outcome == "done"),
        "{report}"
    );
    assert_eq!(
        stored_plan(&workspace),
        (
            vec!["look completed".to_owned(), "tell completed".to_owned()],
            4
        )
    );
    let output = std::path::Path::new(document["directory"].as_str().unwrap()).join("output");
    assert_eq!(
        std::fs::read_to_string(output.join("answer.md")).unwrap(),
        "It is blue.\n"
    );
    assert_eq!(status(&workspace)["stage"], "done");
    audited(&workspace);

    // Finished is finished: the same report, and nobody is asked.
    let again = resume(&workspace, &[]).exits(0);
    assert_eq!(self::report(&again), report);
    let same = agent(&workspace, &[]).run().exits(0);
    assert_eq!(self::report(&same), report);
}

#[test]
fn a_text_for_people_shows_the_answer_alone() {
    let workspace = Workspace::new();
    let ran = wharf("agent")
        .args(["--task", "t", "--prompt", "p"])
        .dir(workspace.path())
        .script(workspace.script(&[script::says("Line one.\n\u{1b}[31mLine two.")]))
        .run()
        .exits(0);
    assert!(
        ran.stdout.contains("Line one.\n\\u{1b}[31mLine two.\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn each_budget_stops_an_agent_with_its_own_reason() {
    let endless = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|_| calls(&[("plan_read", json!({}))]))
            .collect()
    };
    for (option, value, reason, detail) in [
        ("--max-turns", "3", "max-turns", "all 3 turns are used"),
        (
            "--max-tool-calls",
            "2",
            "max-tool-calls",
            "all 2 tool calls are used",
        ),
        (
            "--max-tool-calls",
            "0",
            "max-tool-calls",
            "all 0 tool calls are used",
        ),
        ("--max-tokens", "1", "max-tokens", "all 1 tokens are used"),
    ] {
        let workspace = Workspace::new();
        let ran = agent(&workspace, &endless(5))
            .args([option, value])
            .run()
            .exits(11);
        let report = report(&ran);
        assert_eq!(
            (&report["status"], &report["stopReason"]),
            (&json!("partial"), &json!(reason))
        );
        assert_eq!(
            (&report["answer"], &report["detail"]),
            (&Value::Null, &json!(detail))
        );
        audited(&workspace);
    }
}

#[test]
fn the_deadline_stops_the_next_turn() {
    let workspace = Workspace::new();
    let _ = agent(&workspace, &[])
        .args(["--deadline-seconds", "1"])
        .run()
        .exits(1);
    // Wall time goes on while nothing runs.
    let gone = || status(&workspace)["timeLeftMs"] == 0;
    wharf_tests::patience::until("its time is over", gone);
    let ran = resume(&workspace, &lines()).exits(11);
    assert_eq!(report(&ran)["stopReason"], "deadline");
    assert_eq!(report(&ran)["usage"]["turns"], 0);
}

#[test]
fn an_answer_that_was_cut_off_is_no_answer() {
    for (line, detail) in [
        (script::ends("length", "It is bl"), "ended with \"length\""),
        (script::says("  "), "an empty text"),
    ] {
        let workspace = Workspace::new();
        let ran = agent(&workspace, &[line]).run().exits(11);
        let report = report(&ran);
        assert_eq!(
            (&report["stopReason"], &report["answer"]),
            (&json!("answer-incomplete"), &Value::Null)
        );
        assert!(
            report["detail"].as_str().unwrap().contains(detail),
            "{report}"
        );
    }
    // Nor are its calls made.
    let workspace = Workspace::new();
    let mut cut = calls(&[plan(&[("a", "pending")])]);
    cut["finishReason"] = json!("length");
    let ran = agent(&workspace, &[cut]).run().exits(11);
    assert_eq!(report(&ran)["usage"]["toolCalls"], 0);
    assert!(
        workspace
            .select_in("memory.sqlite", "SELECT id FROM memories")
            .is_empty()
    );
}

/// A reply of the server that calls tools, as a script's line has them.
fn tool_calls(line: &Value) -> Reply {
    let calls: Vec<_> = line["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!({"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"].to_string()}}))
        .collect();
    Reply::json(
        200,
        &json!({
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": calls}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }),
    )
}

#[test]
fn what_a_tool_answered_is_told_to_the_model_with_the_call_it_belongs_to() {
    let server = Server::start(vec![
        tool_calls(&calls(&[("plan_read", json!({})), ("nonsense", json!({}))])),
        Reply::chat("Done."),
    ])
    .unwrap();
    let workspace = Workspace::new();
    let run = wharf("agent")
        .args(["--task", "t", "--prompt", "Hello."])
        .dir(workspace.path());
    let ran = run.model(&server).json().run().exits(0);
    let [first, second] = [0, 1].map(|at| server.received()[at].json());
    let messages = second["messages"].as_array().unwrap();
    assert_eq!(
        first["messages"].as_array().unwrap()[..2],
        messages[..2],
        "the beginning stays the same"
    );
    assert_eq!(messages[1], json!({"role": "user", "content": "Hello."}));
    assert_eq!(
        messages[3],
        json!({"role": "tool", "tool_call_id": "c0", "content": "null"})
    );
    let refused = messages[4]["content"].as_str().unwrap();
    assert!(refused.contains("unknown-tool"), "{refused}");
    assert!(report(&ran)["usage"]["promptTokens"].as_u64().unwrap() > 10);
}

#[test]
fn a_model_that_fails_is_asked_again_and_each_attempt_is_a_turn() {
    let workspace = Workspace::new();
    let failing = [script::fails("overloaded", true), script::says("Done.")];
    let failed = agent(&workspace, &failing).run().exits(1);
    assert!(
        failed.stderr.contains("error[model-failed]"),
        "{}",
        failed.stderr
    );
    let ran = resume(&workspace, &failing).exits(0);
    assert_eq!(report(&ran)["usage"]["turns"], 2);
}

#[test]
fn both_patterns_keep_their_tasks_apart() {
    let workspace = Workspace::new();
    let _ = wharf_tests::demo::demo(&workspace, "stable").run().exits(0);
    let run = |tenant: &str| {
        wharf("agent")
            .args(["--task", "demo", "--prompt", "p", "--tenant", tenant])
            .dir(workspace.path())
            .script(workspace.script(&lines()))
            .run()
    };
    assert!(run("demo").exits(1).stderr.contains("error[other-pattern]"));
    assert!(run("stranger").exits(1).stderr.contains("error["));
    // A plan-execute task is seen in the form of a plan.
    let lines = [
        calls(&[("plan_read", json!({"task": "demo"}))]),
        script::says("Seen."),
    ];
    let _ = agent(&workspace, &lines).run().exits(0);
    let told = workspace.select_in(
        "memory.sqlite",
        "SELECT body FROM journal WHERE task = 't' AND kind = 'finished'",
    );
    let shown = told.iter().find(|body| body.contains("task:demo")).unwrap();
    let steps = shown.matches("\"status\":\"completed\"").count();
    assert_eq!(steps, 4, "{shown}");
    audited(&workspace);
}

#[test]
fn an_agent_without_a_model_is_told_what_to_give() {
    let workspace = Workspace::new();
    let ran = wharf("agent")
        .args(["--prompt", "p"])
        .dir(workspace.path())
        .run()
        .exits(2);
    assert!(
        ran.stderr.contains("error[no-agent-model]"),
        "{}",
        ran.stderr
    );
    assert!(!workspace.path().exists());
}

#[test]
fn what_was_tampered_with_in_an_agents_task_is_found() {
    let workspace = Workspace::new();
    let _ = agent(&workspace, &lines()).run().exits(0);
    workspace.tamper(
        "memory.sqlite",
        "UPDATE journal SET body = replace(body, 'blue', 'green') WHERE kind = 'finished'",
    );
    let ran = wharf("audit").dir(workspace.path()).json().run().exits(1);
    let finding = &ran.document()["tasks"][0]["findings"][0];
    assert_eq!(finding["code"], "journal-hash", "{finding}");

    let workspace = Workspace::new();
    let document = agent(&workspace, &lines()).run().exits(0).document();
    let answer =
        std::path::Path::new(document["directory"].as_str().unwrap()).join("output/answer.md");
    std::fs::write(&answer, "It is green.\n").unwrap();
    let ran = wharf("audit").dir(workspace.path()).json().run().exits(1);
    assert_eq!(
        ran.document()["tasks"][0]["findings"][0]["code"],
        "output-changed"
    );
}
