//! Calls that are refused, that wait for a person, and that nobody may make.

use model_server::{Reply, Server};
use serde_json::json;
use wharf_tests::{Workspace, script, wharf};

use super::{agent, audited, calls, lines, plan, report, resume, status, step, stored_plan};

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
    let stops = wharf("resume").args(["--task", "t", "--stop-after", "plan"]);
    let stops = stops.dir(workspace.path()).script(workspace.script(&lines));
    let [what, ..] = stops.run().refusal(2, "usage");
    assert!(what.contains("has no checkpoints"), "{what}");
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

/// The same call again is another call.
#[test]
fn an_approval_holds_for_one_call_alone() {
    let pay = ("memory_add", json!({ "content": "pay 100" }));
    let lines = [calls(&[pay.clone(), pay]), script::says("Paid.")];
    let workspace = Workspace::new();
    let waiting = agent(&workspace, &lines)
        .args(["--ask", "memory_add"])
        .run()
        .exits(13)
        .document()["waiting"]
        .clone();
    let approve = || {
        let digest = waiting["digest"].as_str().unwrap();
        let run = wharf("approve").args(["--task", "t", "--call", digest]);
        run.dir(workspace.path()).run()
    };
    let _ = approve().exits(0);
    let next = resume(&workspace, &lines).exits(13).document()["waiting"].clone();
    assert_eq!(next["arguments"], waiting["arguments"]);
    assert_ne!(next["digest"], waiting["digest"]);
    assert!(approve().exits(1).stderr.contains("error[other-call]"));
    let kept = "SELECT count(*) FROM memories";
    assert_eq!(workspace.select_in("memory.sqlite", kept), ["1"]);
}

/// What is shown to a person is what is decided about.
#[test]
fn the_call_is_shown_as_it_is_and_the_printed_command_names_it() {
    let spaces = " ".repeat(3000);
    let arguments = format!("{{\"id\":\"note\"{spaces},\"content\":\"evil\u{202e}\u{3164}\"}}");
    let call = json!({"id": "c", "name": "memory_upsert", "arguments": arguments});
    let line = json!({"toolCalls": [call], "finishReason": "tool_calls"});
    let workspace = Workspace::new();
    let run = wharf("agent").args(["--task", "t", "--prompt", "p", "--ask", "memory_upsert"]);
    let run = run.dir(workspace.path()).script(workspace.script(&[line]));
    let shown = run.run().exits(13).stdout;
    let digest = status(&workspace)["agent"]["waiting"]["digest"].clone();
    assert!(
        shown.contains("{\"content\":\"evil\\u{202e}\\u{3164}\",\"id\":\"note\"}"),
        "{shown}"
    );
    for command in ["approve", "deny"] {
        let named = format!("--task t --call {}", digest.as_str().unwrap());
        let line = shown.lines().find(|line| line.contains(command)).unwrap();
        assert!(line.ends_with(&named), "{shown}");
    }
}

#[test]
fn nobody_is_asked_about_a_call_that_cannot_be_made_any_more() {
    let lines = [calls(&[plan(&[("a", "pending")])]), script::says("Done.")];
    let asked = |workspace: &Workspace, options: [&str; 2]| {
        agent(workspace, &lines)
            .args(["--ask", "plan_write"])
            .args(options)
            .run()
    };
    let ran = asked(&Workspace::new(), ["--max-tool-calls", "0"]).exits(11);
    assert_eq!(report(&ran)["stopReason"], "max-tool-calls");

    let workspace = Workspace::new();
    // Whoever is slow to start it has reached the deadline before.
    if asked(&workspace, ["--deadline-seconds", "3"]).code == Some(13) {
        wharf_tests::patience::until("its time is over", || status(&workspace)["timeLeftMs"] == 0);
        let ran = resume(&workspace, &lines).exits(11);
        assert_eq!(report(&ran)["stopReason"], "deadline");
    }
    assert!(
        workspace
            .select_in("memory.sqlite", "SELECT id FROM memories")
            .is_empty()
    );
    // A finished task asks no model.
    let again = wharf("resume").args(["--task", "t"]);
    let again = again.dir(workspace.path()).json().run().exits(11);
    assert_eq!(report(&again)["stopReason"], "deadline");
}

/// Refusals are told in full and stay short, so that no answer can outgrow what a model is shown.
#[test]
fn what_is_wrong_with_a_plan_is_told_and_stays_short() {
    let steps: Vec<_> = (0..201)
        .map(|n| step(&format!("s{n}"), "pending"))
        .collect();
    let before: Vec<_> = (0..20_000).map(|n| format!("x{n}")).collect();
    let many =
        json!({"steps": [{"id": "a", "title": "A", "status": "pending", "dependsOn": before}]});
    let lines = [
        calls(&[
            (
                "plan_write",
                json!({"plan": {"steps": [{"id": "a", "title": "A", "status": "done"}, {"id": "", "title": "B", "status": "pending"}]}}),
            ),
            ("plan_write", json!({"plan": {"steps": steps}})),
            ("plan_write", json!({ "plan": many.to_string() })),
        ]),
        script::says("Done."),
    ];
    let workspace = Workspace::new();
    let _ = agent(&workspace, &lines).run().exits(0);
    let told = workspace.select_in(
        "memory.sqlite",
        "SELECT body FROM journal WHERE task = 't' AND kind = 'finished'",
    );
    let told = told.concat();
    for fault in [
        "/plan/steps/0/status",
        "/plan/steps/1/id",
        "201",
        "and 19980 more",
    ] {
        assert!(told.contains(fault), "{fault}");
    }
    assert!(told.len() < 1_500_000, "{}", told.len());
}
