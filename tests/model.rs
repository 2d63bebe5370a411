//! Plans from a model over HTTP: what it is asked, what becomes of its answers, and what each attempt costs.

use std::process::{Child, Command};

use model_server::{Chat, Piece, Reply, Server};
use serde_json::{Value, json};
use wharf_tests::{
    Ran, Workspace, built,
    demo::{self, TASK},
    model::{KEY, MODEL, streamed, told},
    patience::PATIENCE,
    script::{WHOLE, needs_human, ready},
    wharf,
};

fn rest() -> Value {
    ready(&["ship_economy", "read_receipt"])
}

fn report(ran: &Ran) -> Value {
    ran.document()["report"].clone()
}

fn audited(workspace: &Workspace) {
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

/// The demo's request with other budgets, in a workspace of its own, planned by the server.
fn run_with(server: &Server, scenario: &str, budgets: &Value) -> (Workspace, Ran) {
    let workspace = Workspace::new();
    let mut request = demo::request();
    for (name, value) in budgets.as_object().unwrap() {
        request["budgets"][name] = value.clone();
    }
    let ran = wharf("run")
        .arg("--plugin")
        .arg(built::plugin("fulfillment"))
        .arg("--request")
        .arg(workspace.handed_in("request.json", request.to_string()))
        .arg("--seed")
        .arg(workspace.handed_in("seed.sql", demo::seed(scenario)))
        .dir(workspace.path())
        .model(server)
        .json()
        .run();
    (workspace, ran)
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status();
    assert!(sent.unwrap().success());
}

fn busy(status: u16) -> Reply {
    Reply::error(status, "Come back later.").header("retry-after", "0")
}

#[test]
fn a_model_plans_and_plans_again_over_http() {
    let server = Server::start(vec![streamed(&ready(&WHOLE)), streamed(&rest())]).unwrap();
    let workspace = Workspace::new();
    let ran = demo::demo(&workspace, "price-change")
        .model(&server)
        .json()
        .run()
        .exits(0);
    let report = report(&ran);
    assert_eq!(report["plans"][0]["plan"], ready(&WHOLE));
    assert_eq!(report["plans"][1]["plan"], rest());
    assert_eq!(report["usage"]["modelCalls"], 2);
    assert_eq!(report["result"]["cost"], 400);
    audited(&workspace);

    let received = server.received();
    assert_eq!(received.len(), 2);
    for request in &received {
        assert_eq!(request.method, "POST");
        assert_eq!(request.target, "/v1/chat/completions");
        assert_eq!(
            request.header("authorization"),
            Some(&*format!("Bearer {KEY}"))
        );
    }
    // The second plan is asked for with what the first one did, and why it was given up.
    let second = told(&server, 1);
    let done: Vec<_> = second["completed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["step"]["tool"])
        .collect();
    assert_eq!(done, ["reserve_stock", "pack_order"]);
    assert_eq!(second["changes"][0]["code"], "environment-changed");

    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    let tokens = &status.document()["tasks"][0]["tokens"];
    let usage = |member: &str| tokens[member].as_u64().unwrap();
    assert!(
        usage("promptTokens") > 0 && usage("completionTokens") > 0,
        "{tokens}"
    );
}

/// The whole of both requests, byte for byte as far as they are the same each time.
#[test]
fn what_a_model_is_asked_is_as_recorded() {
    let server = Server::start(vec![streamed(&ready(&WHOLE)), streamed(&rest())]).unwrap();
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "price-change")
        .model(&server)
        .run()
        .exits(0);
    let first = server.received()[0].json();
    let text = |at: usize| {
        first["messages"][at]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    insta::assert_snapshot!("model-instructions", text(0));
    insta::assert_snapshot!("model-question", text(1));
    let second = server.received()[1].json();
    let question = second["messages"][1]["content"].as_str().unwrap();
    insta::assert_snapshot!("model-question-again", question);
    let mut rest = first.clone();
    for (at, message) in rest["messages"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        assert_eq!(message["role"], ["system", "user"][at]);
        message["content"] = "as recorded".into();
    }
    insta::assert_json_snapshot!("model-request", rest);
    // Nothing but the task differs from call to call.
    assert_eq!(second["messages"][0], first["messages"][0]);
    assert_eq!(second["response_format"], first["response_format"]);
}

/// B3: the Loop alone tries again, each attempt is counted, and the server sees no other.
#[test]
fn a_failure_that_may_pass_is_tried_again_and_each_attempt_counts() {
    for first in [
        busy(429),
        busy(503),
        busy(529),
        Reply::raw("").then(Piece::Close),
    ] {
        let replies = vec![first, busy(503), streamed(&ready(&WHOLE))];
        let server = Server::start(replies).unwrap();
        let (workspace, ran) = run_with(&server, "stable", &json!({"maxPlans": 3}));
        let ran = ran.exits(0);
        assert_eq!(report(&ran)["usage"]["modelCalls"], 3, "{}", ran.stderr);
        assert_eq!(server.received().len(), 3);
        assert!(ran.stderr.contains("asked again"), "{}", ran.stderr);
        audited(&workspace);
    }
}

#[test]
fn attempts_end_with_the_retries_of_the_provider() {
    let server = Server::start((0..4).map(|_| busy(503)).collect()).unwrap();
    server.push(streamed(&ready(&WHOLE)));
    let (workspace, ran) = run_with(&server, "stable", &json!({"maxPlans": 5}));
    let [what, why, _] = ran.refusal(1, "model-failed");
    assert!(
        what.contains("model-overloaded") && why.contains("Come back later."),
        "{what} {why}"
    );
    assert_eq!(server.received().len(), 3);
    // A new run has its own retries, and the task its one budget.
    let resumed = wharf("resume").dir(workspace.path()).model(&server).json();
    assert_eq!(report(&resumed.run().exits(0))["usage"]["modelCalls"], 5);
    assert_eq!(server.received().len(), 5);
    audited(&workspace);
}

#[test]
fn the_budget_ends_attempts_before_the_retries_do() {
    let server = Server::start((0..5).map(|_| busy(429)).collect()).unwrap();
    let (workspace, ran) = run_with(&server, "stable", &json!({"maxPlans": 2}));
    let _ = ran.refusal(1, "model-failed");
    assert_eq!(server.received().len(), 2);
    let ran = wharf("resume")
        .dir(workspace.path())
        .model(&server)
        .json()
        .run();
    assert_eq!(report(&ran.exits(11))["stopReason"], "max-plans");
    assert_eq!(server.received().len(), 2);
}

#[test]
fn nobody_waits_beyond_the_deadline_or_for_a_server_that_wants_an_hour() {
    for (patience, deadline) in [("3600", 3600), ("60", 30)] {
        let reply = Reply::error(429, "Slow down.").header("retry-after", patience);
        let server = Server::start(vec![reply, streamed(&ready(&WHOLE))]).unwrap();
        let budgets = json!({"maxPlans": 3, "deadlineSeconds": deadline});
        let (workspace, ran) = run_with(&server, "stable", &budgets);
        let [what, ..] = ran.refusal(1, "model-failed");
        assert!(what.contains("model-rate-limited"), "{what}");
        assert_eq!(server.received().len(), 1);
        let resumed = wharf("resume").dir(workspace.path()).model(&server).json();
        assert_eq!(report(&resumed.run().exits(0))["usage"]["modelCalls"], 2);
    }
}

#[test]
fn a_failure_that_does_not_pass_ends_the_run_at_once_and_nothing_is_lost() {
    let chat = |change: fn(&mut Value)| {
        let mut body = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}]});
        change(&mut body);
        Reply::json(200, &body)
    };
    for (reply, code) in [
        (Reply::error(401, "Bad key."), "model-unauthorized"),
        (Reply::error(403, "Not you."), "model-forbidden"),
        (Reply::error(404, "No such model."), "model-not-found"),
        (Reply::error(400, "No."), "model-bad-request"),
        (chat(|body| body["choices"] = json!([])), "model-no-choices"),
        (Reply::json(200, &json!("text")), "model-no-choices"),
        (
            Reply::json(200, &json!({})).header("content-type", "text/html"),
            "model-content-type",
        ),
        (
            Reply::new(307).header("location", "http://127.0.0.2:9/v1"),
            "model-redirect",
        ),
    ] {
        let server = Server::start(vec![reply, streamed(&ready(&WHOLE))]).unwrap();
        let (workspace, ran) = run_with(&server, "stable", &json!({"maxPlans": 3}));
        let [what, ..] = ran.refusal(1, "model-failed");
        assert!(what.contains(code), "{code}: {what}");
        assert_eq!(server.received().len(), 1, "{code}");
        assert_eq!(workspace.ledger(), []);
        let resumed = wharf("resume").dir(workspace.path()).model(&server).json();
        let report = report(&resumed.run().exits(0));
        assert_eq!(report["usage"]["modelCalls"], 2, "{code}");
        audited(&workspace);
    }
}

#[test]
fn an_answer_that_is_no_plan_is_named_by_what_it_is() {
    let whole = ready(&WHOLE).to_string();
    let ends = |reason: &str| Chat::new(whole.clone()).finish_reason(reason).stream(20);
    let message = |message: Value, reason: &str| {
        Reply::json(
            200,
            &json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}]}),
        )
    };
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "ship_standard", "arguments": "{}"}}]});
    let refusal = json!({"role": "assistant", "content": null, "refusal": "I would rather not."});
    for (reply, code) in [
        (ends("length"), "answer-incomplete"),
        (ends("content_filter"), "answer-filtered"),
        (ends("something_new"), "answer-incomplete"),
        (message(call.clone(), "tool_calls"), "answer-tool-call"),
        (message(call, "stop"), "answer-tool-call"),
        (message(refusal, "stop"), "answer-declined"),
        (Reply::chat("Here is your plan: {}"), "answer-not-json"),
        (Reply::chat("{}"), "plan-form"),
        (Reply::chat(format!("{whole}{whole}")), "answer-not-json"),
    ] {
        let server = Server::start(vec![reply]).unwrap();
        let (workspace, ran) = run_with(&server, "stable", &json!({"maxPlans": 3}));
        let report = report(&ran.exits(11));
        assert_eq!(report["stopReason"], "invalid-plan", "{code}");
        assert_eq!(report["details"][0]["code"], code, "{report}");
        assert_eq!(server.received().len(), 1, "{code}");
        assert_eq!(workspace.ledger(), []);
        audited(&workspace);
    }
}

#[test]
fn a_refused_plan_is_explained_to_the_model_as_often_as_the_budget_allows() {
    let wrong = ready(&["ship_standard"]);
    let cut = Chat::new("{\"goal\":").finish_reason("length").stream(20);
    let replies = vec![streamed(&wrong), cut, streamed(&ready(&WHOLE))];
    let server = Server::start(replies).unwrap();
    let budgets = json!({"maxPlans": 3, "maxInvalidPlans": 2});
    let (workspace, ran) = run_with(&server, "stable", &budgets);
    let report = report(&ran.exits(0));
    assert_eq!(report["usage"]["modelCalls"], 3);
    assert_eq!(told(&server, 0)["refused"], json!([]));
    let refused = &told(&server, 2)["refused"];
    assert_eq!(refused[0]["answer"], wrong.to_string());
    assert!(!refused[0]["violations"].as_array().unwrap().is_empty());
    assert_eq!(refused[1]["answer"], "{\"goal\":");
    assert_eq!(refused[1]["violations"][0]["code"], "answer-incomplete");
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    let usage = &status.document()["tasks"][0]["usage"];
    assert_eq!(
        (&usage["invalidPlans"], &usage["maxInvalidPlans"]),
        (&json!(2), &json!(2))
    );
    audited(&workspace);

    let server = Server::start(vec![streamed(&wrong), streamed(&wrong)]).unwrap();
    let (_, ran) = run_with(
        &server,
        "stable",
        &json!({"maxPlans": 3, "maxInvalidPlans": 1}),
    );
    assert_eq!(
        ran.exits(11).document()["report"]["stopReason"],
        "invalid-plan"
    );
    assert_eq!(server.received().len(), 2);
}

/// A kill costs the attempt that was in flight, and no other.
#[test]
fn a_kill_while_the_model_answers_costs_one_attempt() {
    let begun = Chat::new(ready(&WHOLE).to_string()).stream(30);
    let pieces = begun
        .pieces
        .iter()
        .take(4)
        .cloned()
        .chain([Piece::Hang])
        .collect();
    let server = Server::start(vec![begun.pieces(pieces), streamed(&ready(&WHOLE))]).unwrap();
    let workspace = Workspace::new();
    let mut command = demo::demo(&workspace, "stable")
        .model(&server)
        .into_command();
    let mut child = command.spawn().unwrap();
    assert!(server.wait_for(1, PATIENCE));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    assert!(server.wait_closed(0, PATIENCE));

    let resumed = wharf("resume").dir(workspace.path()).model(&server).json();
    let report = report(&resumed.run().exits(0));
    assert_eq!(report["usage"]["modelCalls"], 2);
    assert_eq!(server.received().len(), 2);
    audited(&workspace);
}

#[test]
fn a_kill_while_the_next_attempt_is_waited_for_changes_nothing_about_it() {
    let reply = Reply::error(429, "Slow down.").header("retry-after", "2");
    let server = Server::start(vec![reply, streamed(&ready(&WHOLE))]).unwrap();
    let workspace = Workspace::new();
    let mut command = demo::demo(&workspace, "stable")
        .model(&server)
        .into_command();
    let mut child = command.spawn().unwrap();
    let waiting = || {
        let status = wharf("status").dir(workspace.path()).json().run();
        status.code == Some(0) && status.document()["tasks"][0]["retryAt"].is_string()
    };
    assert!(server.wait_for(1, PATIENCE));
    while !waiting() {
        assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    }
    child.kill().unwrap();
    let _ = child.wait().unwrap();
    assert_eq!(server.received().len(), 1);
    let resumed = wharf("resume").dir(workspace.path()).model(&server).json();
    assert_eq!(report(&resumed.run().exits(0))["usage"]["modelCalls"], 2);
    audited(&workspace);
}

#[test]
fn a_signal_while_the_model_answers_closes_the_connection_and_the_task_goes_on_later() {
    let silent = Reply::new(200).pieces(vec![Piece::Hang]);
    let server = Server::start(vec![silent, streamed(&ready(&WHOLE))]).unwrap();
    let workspace = Workspace::new();
    let mut command = demo::demo(&workspace, "stable")
        .model(&server)
        .into_command();
    let mut child = command.spawn().unwrap();
    assert!(server.wait_for(1, PATIENCE));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(server.wait_closed(0, PATIENCE));
    let resumed = wharf("resume").dir(workspace.path()).model(&server).json();
    assert_eq!(report(&resumed.run().exits(0))["usage"]["modelCalls"], 2);
    audited(&workspace);
}

#[test]
fn a_plan_that_asks_for_a_person_comes_over_http_as_well() {
    let server = Server::start(vec![Reply::chat(needs_human().to_string())]).unwrap();
    let (workspace, ran) = run_with(&server, "no-stock", &json!({}));
    assert_eq!(report(&ran.exits(10))["stopReason"], "needs-human");
    assert_eq!(server.received()[0].json()["model"], MODEL);
    assert!(!workspace.output(TASK, "shipment.json").exists());
}
