//! The second Loop as its users meet it: an agent that plans with tools, stops, waits, is killed, and goes on.

use model_server::{Piece, Reply, Server};
use serde_json::{Value, json};
use wharf_tests::{Ran, Workspace, crash_matrix::Case, patience::PATIENCE, script, trace, wharf};

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

/// A broken tool call never becomes an effect, and the model is told what is wrong with it.
#[test]
fn a_broken_call_is_refused_and_charged_to_nobody() {
    let workspace = Workspace::new();
    let twice = json!({"plan": {"steps": [step("a", "pending"), step("a", "pending")]}});
    let lines = [
        calls(&[plan(&[("kept", "pending")])]),
        calls(&[
            ("no_such_tool", json!({})),
            ("memory_add", json!("{broken")),
            ("memory_add", json!({"content": 1, "more": 2})),
            ("memory_get", json!([])),
            (
                "plan_write",
                json!({"plan": {"steps": [step("a", "begun")]}}),
            ),
        ]),
        // These fit the schema, and are refused by the tool.
        calls(&[
            ("plan_write", twice),
            ("plan_write", json!({"plan": "[not json"})),
            (
                "plan_write",
                json!({"step": {"id": "b", "title": "B", "status": "pending", "dependsOn": ["nobody"]}}),
            ),
            (
                "plan_write",
                json!({"plan": {"steps": []}, "expectedVersion": 7}),
            ),
            ("plan_write", json!({})),
            (
                "memory_upsert",
                json!({"id": "plan:current", "content": "mine"}),
            ),
        ]),
        script::says("Done."),
    ];
    let ran = agent(&workspace, &lines).run().exits(0);
    let report = report(&ran);
    let outcomes: Vec<_> = report["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["outcome"].as_str().unwrap())
        .collect();
    let expected = [
        "done",
        "unknown-tool",
        "invalid-arguments",
        "invalid-arguments",
        "invalid-arguments",
        "invalid-arguments",
        "invalid-plan",
        "invalid-plan",
        "invalid-plan",
        "version-conflict",
        "invalid-arguments",
        "reserved-id",
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(
        report["usage"]["toolCalls"], 7,
        "what is broken is not called"
    );
    assert_eq!(
        stored_plan(&workspace),
        (vec!["kept pending".to_owned()], 1)
    );
    assert_eq!(
        workspace.select_in("memory.sqlite", "SELECT count(*) FROM memories"),
        ["1"]
    );
}

#[test]
fn a_call_that_asks_waits_for_a_person_over_any_number_of_runs() {
    let lines = [
        calls(&[
            ("plan_read", json!({})),
            plan(&[("a", "pending")]),
            ("plan_read", json!({})),
        ]),
        script::says("Done."),
    ];
    let begin = |workspace: &Workspace| {
        agent(workspace, &lines)
            .args(["--ask", "plan_write"])
            .run()
            .exits(13)
    };
    let decide = |workspace: &Workspace, command: &str| {
        let run = wharf(command)
            .args(["--task", "t"])
            .dir(workspace.path())
            .json();
        run.run()
    };
    let workspace = Workspace::new();
    let waiting = begin(&workspace).document()["waiting"].clone();
    assert_eq!(waiting["tool"], "plan_write");
    assert_eq!(
        resume(&workspace, &lines).exits(13).document()["waiting"],
        waiting
    );
    let seen = status(&workspace);
    assert_eq!(
        (&seen["status"], &seen["agent"]["waiting"]),
        (&json!("waiting"), &waiting)
    );
    assert_eq!(
        seen["usage"]["actionCalls"], 1,
        "what came before it was done once"
    );
    assert!(
        workspace
            .select_in("memory.sqlite", "SELECT id FROM memories")
            .is_empty()
    );

    // Bound to the exact call.
    let other = wharf("approve")
        .args(["--task", "t", "--call", &"0".repeat(64)])
        .dir(workspace.path())
        .run()
        .exits(1);
    assert!(
        other.stderr.contains("error[other-call]"),
        "{}",
        other.stderr
    );
    let digest = waiting["digest"].as_str().unwrap();
    let approved = wharf("approve")
        .args(["--call", digest, "--by", "chief"])
        .dir(workspace.path())
        .json()
        .run()
        .exits(0);
    assert_eq!(
        (
            &approved.document()["approved"],
            &approved.document()["call"]
        ),
        (&json!(true), &waiting)
    );
    let twice = decide(&workspace, "approve").exits(1);
    assert!(
        twice.stderr.contains("error[nothing-waits]"),
        "{}",
        twice.stderr
    );
    let report = report(&resume(&workspace, &lines).exits(0));
    assert_eq!(report["toolCalls"][1]["approvedBy"], "chief");
    assert_eq!(stored_plan(&workspace).1, 1);
    audited(&workspace);

    let workspace = Workspace::new();
    let _ = begin(&workspace);
    let _ = decide(&workspace, "deny").exits(0);
    let report = self::report(&resume(&workspace, &lines).exits(0));
    assert_eq!(report["toolCalls"][1]["outcome"], "call-denied");
    assert_eq!(report["usage"]["toolCalls"], 2);
    assert!(
        workspace
            .select_in("memory.sqlite", "SELECT id FROM memories")
            .is_empty()
    );
    audited(&workspace);
}

#[test]
fn a_tool_that_is_denied_is_neither_offered_nor_called() {
    let server = Server::start(vec![Reply::chat("Nothing to do.")]).unwrap();
    let workspace = Workspace::new();
    let run = wharf("agent")
        .args(["--prompt", "p", "--deny", "memory_delete"])
        .dir(workspace.path());
    let _ = run.model(&server).json().run().exits(0);
    let body = server.received()[0].json();
    let names: Vec<_> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        names.contains(&"plan_write".to_owned()) && !names.contains(&"memory_delete".to_owned()),
        "{names:?}"
    );
    let unknown = agent(&Workspace::new(), &lines())
        .args(["--deny", "nothing"])
        .run()
        .exits(2);
    assert!(
        unknown.stderr.contains("error[tool-refused]"),
        "{}",
        unknown.stderr
    );
}

/// What issue and design promise: the plan survives a kill, and another agent goes on with it.
#[test]
fn a_plan_survives_a_kill_and_is_continued_by_another_agent() {
    let write = calls(&[plan(&[("first", "completed"), ("second", "in_progress")])]);
    let server = Server::start(vec![
        tool_calls(&write),
        Reply::new(200).pieces(vec![Piece::Hang]),
    ])
    .unwrap();
    let workspace = Workspace::new();
    let run = wharf("agent").args(["--task", "one", "--agent", "alice", "--prompt", "Begin."]);
    let mut child = run
        .dir(workspace.path())
        .model(&server)
        .into_command()
        .spawn()
        .unwrap();
    assert!(server.wait_for(2, PATIENCE));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);

    let lines = [
        calls(&[("plan_read", json!({"history": true}))]),
        calls(&[(
            "plan_write",
            json!({"step": step("second", "completed"), "expectedVersion": 1}),
        )]),
        script::says("Finished what alice began."),
    ];
    let run = wharf("agent").args(["--task", "two", "--agent", "bob", "--prompt", "Go on."]);
    let run = run
        .dir(workspace.path())
        .script(workspace.script(&lines))
        .json();
    let _ = run.run().exits(0);
    assert_eq!(
        stored_plan(&workspace),
        (
            vec!["first completed".to_owned(), "second completed".to_owned()],
            2
        )
    );
    let told = workspace.select_in(
        "memory.sqlite",
        "SELECT body FROM journal WHERE task = 'two' AND kind = 'finished'",
    );
    assert!(
        told.iter()
            .any(|body| body.contains("\"updatedBy\":\"alice\"") && body.contains("\"history\"")),
        "{told:?}"
    );

    // And alice's own task goes on as well.
    let resumed = wharf("resume")
        .args(["--task", "one"])
        .dir(workspace.path());
    let line = [Value::Null, script::says("Alice is done.")];
    let lines = [write, line[1].clone()];
    let ran = resumed
        .script(workspace.script(&lines))
        .json()
        .run()
        .exits(0);
    assert_eq!(report(&ran)["answer"], "Alice is done.");
    assert_eq!(report(&ran)["usage"]["turns"], 3);
    audited(&workspace);
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

/// Issue 4's matrix over the second Loop: killed at every change of the workspace.
#[test]
fn an_agent_survives_a_kill_anywhere() {
    if !trace::is_possible() {
        return wharf_tests::skipped("this machine does not let a process trace its child");
    }
    let covered = Case::agent(lines(), &[]).clean().crash_matrix();
    assert!(covered.changes > 60 && covered.kills > 30, "{covered:?}");
}

#[test]
fn an_agent_survives_a_power_loss_anywhere() {
    if !trace::is_possible() {
        return wharf_tests::skipped("this machine does not let a process trace its child");
    }
    let covered = Case::agent(lines(), &[])
        .clean()
        .power_loss_matrix(1)
        .unwrap();
    assert!(covered.syncs > 10, "{covered:?}");
}
