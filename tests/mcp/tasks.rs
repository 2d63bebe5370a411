//! Tasks that clients run: what the command line would have done, in the protocol's words.

use model_server::{Piece, Reply, Server};
use serde_json::{Value, json};
use wharf_tests::{
    Wharf, Workspace,
    mcp::{Client, call, done, mcp},
    patience::{self, PATIENCE},
    probe::{self, TASK},
    script, wharf,
};

/// A server with the plugin, whose tasks are planned by a script.
fn scripted(workspace: &Workspace) -> Wharf {
    let script = workspace.script(&[script::says(probe::plan("change"))]);
    mcp(workspace.path())
        .arg("--plugin")
        .arg(probe::component())
        .script(script)
}

/// A model that never answers.
fn silent() -> Server {
    let hang = || Reply::wire(vec![Piece::Hang]);
    Server::start((0..40).map(|_| hang()).collect()).unwrap()
}

/// A server with the plugin, whose tasks wait for this model.
fn waiting(workspace: &Workspace, model: &Server) -> Wharf {
    mcp(workspace.path())
        .arg("--plugin")
        .arg(probe::component())
        .model(model)
}

fn request() -> Value {
    probe::request("nothing")
}

/// The task waits for its model.
fn asked(model: &Server, times: usize) {
    assert!(model.wait_for(times, PATIENCE), "the model is not asked");
}

fn journal(workspace: &Workspace) -> usize {
    workspace.journal(TASK).len()
}

#[test]
fn a_task_is_run_and_its_result_is_what_the_command_line_prints() {
    let workspace = Workspace::new();
    let mut client = Client::start(scripted(&workspace));
    let answer = client.does("task_run", json!({"request": request()}));
    assert_eq!(answer["report"]["status"], "completed", "{answer}");
    let resume = wharf("resume").dir(workspace.path()).json();
    assert_eq!(resume.run().exits(0).document(), answer);
    let status = client.does("task_status", json!({}));
    let printed = wharf("status").dir(workspace.path()).json().run().exits(0);
    assert_eq!(status["tasks"], printed.document()["tasks"]);
    assert_eq!(status["workspace"], printed.document()["workspace"]);
    assert_eq!(status["runs"], json!([{"task": TASK, "state": "finished"}]));
    // The same again is answered from the report, and a changed one is refused.
    let records = journal(&workspace);
    assert_eq!(
        client.does("task_run", json!({"request": request()})),
        answer
    );
    assert_eq!(client.does("task_resume", json!({"task": TASK})), answer);
    assert_eq!(journal(&workspace), records);
    let mut changed = request();
    changed["goal"] = "otherwise".into();
    let refused = client.refuses("task_run", json!({ "request": changed }));
    assert_eq!(refused["code"], "task-changed");
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

#[test]
fn a_run_stops_at_a_checkpoint_and_goes_on_in_another_server() {
    let workspace = Workspace::new();
    let mut client = Client::start(scripted(&workspace));
    let stopped = client.does(
        "task_run",
        json!({"request": request(), "stopAfter": "plan"}),
    );
    assert_eq!(stopped["checkpoint"], "plan", "{stopped}");
    assert_eq!(workspace.ledger(), []);
    assert_eq!(client.leave().code, Some(0));
    let mut client = Client::start(scripted(&workspace));
    let answer = client.does("task_resume", json!({"task": TASK}));
    assert_eq!(answer["report"]["status"], "completed");
}

/// A client names a digest; which file has it, those say who start servers, and what ran before.
#[test]
fn a_component_is_one_that_was_handed_in_or_that_ran_in_the_workspace() {
    let workspace = Workspace::new();
    let mut stranger = Client::start(mcp(workspace.path()));
    let refused = stranger.refuses("task_run", json!({"request": request()}));
    assert_eq!(refused["code"], "component-unknown");
    assert!(!workspace.path().exists());
    let mut client = Client::start(scripted(&workspace));
    client.does("task_run", json!({"request": request()}));
    let mut another = request();
    another["id"] = "another".into();
    let script = workspace.script(&[script::says(probe::plan("change"))]);
    let mut later = Client::start(mcp(workspace.path()).script(script));
    let answer = later.does("task_run", json!({ "request": another }));
    assert_eq!(answer["report"]["status"], "completed");
}

#[test]
fn a_workspace_of_another_tenant_takes_no_task() {
    let workspace = Workspace::new();
    let mut client = Client::start(scripted(&workspace));
    client.does("task_run", json!({"request": request()}));
    let mut foreign = request();
    foreign["id"] = "foreign".into();
    foreign["tenant"] = "somebody-else".into();
    let refused = client.refuses("task_run", json!({ "request": foreign }));
    assert_eq!(refused["code"], "workspace-other-tenant", "{refused}");
}

#[test]
fn a_run_that_nobody_waits_for_goes_on_and_can_be_cancelled_and_resumed() {
    let workspace = Workspace::new();
    let model = silent();
    let mut client = Client::start(waiting(&workspace, &model));
    let begun = client.does("task_run", json!({"request": request(), "wait": false}));
    assert_eq!(begun, json!({"task": TASK, "state": "running"}));
    asked(&model, 1);
    let status = client.does("task_status", json!({"task": TASK}));
    assert_eq!(status["runs"], json!([{"task": TASK, "state": "running"}]));
    assert_eq!(status["tasks"][0]["stage"], "plan", "{status}");
    // One runner owns a task, here as everywhere.
    let refused = client.refuses("task_resume", json!({"task": TASK}));
    assert_eq!(refused["kind"], "conflict", "{refused}");
    let ended = client.does("task_cancel", json!({"task": TASK}));
    assert_eq!(ended, json!({"task": TASK, "state": "cancelled"}));
    let refused = client.refuses("task_cancel", json!({"task": TASK}));
    assert_eq!(refused["code"], "task-not-running");
    drop(client);
    finishes(&workspace);
}

/// Goes on with the task by a script, and nothing is wrong with what becomes of it.
fn finishes(workspace: &Workspace) {
    // An attempt that was cancelled left no answer, so that the first line is the next.
    let script = workspace.script(&[script::says(probe::plan("change"))]);
    let mut client = Client::start(mcp(workspace.path()).script(script));
    let answer = client.does("task_resume", json!({"task": TASK}));
    assert_eq!(answer["report"]["status"], "completed", "{answer}");
    assert_eq!(workspace.ledger().len(), 1);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

#[test]
fn why_a_run_failed_that_nobody_waited_for_is_told() {
    let workspace = Workspace::new();
    let mut client = Client::start(
        mcp(workspace.path())
            .arg("--plugin")
            .arg(probe::component())
            .script(workspace.script(&[script::fails("overloaded", false)])),
    );
    client.does("task_run", json!({"request": request(), "wait": false}));
    let mut runs = Value::Null;
    patience::until("the run ends", || {
        runs = client.does("task_status", json!({}))["runs"].clone();
        runs[0]["state"] != "running"
    });
    assert_eq!(runs[0]["state"], "failed");
    assert_eq!(runs[0]["error"]["code"], "model-failed", "{runs}");
}

/// The protocol's own cancellation: the request is answered no more, and its run has stopped.
#[test]
fn a_request_that_is_cancelled_cancels_its_run() {
    let workspace = Workspace::new();
    let model = silent();
    let mut client = Client::start(waiting(&workspace, &model));
    let run = client.ask(
        "tools/call",
        call("task_run", json!({"request": request()})),
    );
    asked(&model, 1);
    client.notify("notifications/cancelled", json!({"requestId": run}));
    let mut runs = Value::Null;
    patience::until("the run stops", || {
        runs = client.does("task_status", json!({}))["runs"].clone();
        runs[0]["state"] != "running"
    });
    assert_eq!(runs, json!([{"task": TASK, "state": "cancelled"}]));
    // Nothing but answers to what was asked since: the harness would have found another.
    assert_eq!(client.leave().messages, [Value::Null; 0]);
    finishes(&workspace);
}

#[test]
fn a_client_that_leaves_cancels_what_runs_and_is_answered_if_it_still_listens() {
    let workspace = Workspace::new();
    let model = silent();
    let mut client = Client::start(waiting(&workspace, &model));
    client.ask(
        "tools/call",
        call("task_run", json!({"request": request()})),
    );
    asked(&model, 1);
    let parted = client.leave();
    assert_eq!(parted.code, Some(0), "{parted:?}");
    let answer = done(&parted.messages[0]["result"]);
    assert_eq!(answer, json!({"task": TASK, "state": "cancelled"}));
    finishes(&workspace);
}

#[test]
fn a_signal_cancels_what_runs() {
    let workspace = Workspace::new();
    let model = silent();
    let mut client = Client::start(waiting(&workspace, &model));
    client.does("task_run", json!({"request": request(), "wait": false}));
    asked(&model, 1);
    client.signal("TERM");
    assert_eq!(client.parted().code, Some(0));
    finishes(&workspace);
}

#[test]
fn a_task_whose_server_was_killed_goes_on_in_another() {
    let workspace = Workspace::new();
    let model = silent();
    let mut client = Client::start(waiting(&workspace, &model));
    client.does("task_run", json!({"request": request(), "wait": false}));
    asked(&model, 1);
    client.kill();
    finishes(&workspace);
}

#[test]
fn a_client_that_asks_is_told_how_far_a_task_is() {
    let workspace = Workspace::new();
    let mut client = Client::start(scripted(&workspace));
    let mut parameters = call("task_run", json!({"request": request()}));
    parameters["_meta"] = json!({"progressToken": "token-1"});
    let answer = client.request("tools/call", parameters);
    assert_eq!(done(&answer["result"])["report"]["status"], "completed");
    let told: Vec<_> = client.notifications.drain(..).collect();
    assert!(!told.is_empty());
    let mut before = 0.0;
    for notification in &told {
        assert_eq!(notification["method"], "notifications/progress");
        let progress = &notification["params"];
        assert_eq!(progress["progressToken"], "token-1");
        let now = progress["progress"].as_f64().unwrap();
        assert!(now > before, "{told:#?}");
        before = now;
    }
    // Whatever was passed over: what was said last is told.
    let last = &told.last().unwrap()["params"]["message"];
    assert_eq!(last, "done: completed");
    // A client that does not ask is not told.
    client.does("task_resume", json!({"task": TASK}));
    assert!(client.notifications.is_empty());
}

#[test]
fn as_many_tasks_run_as_may_and_not_one_more() {
    let workspace = Workspace::new();
    let model = silent();
    let mut client = Client::start(waiting(&workspace, &model));
    let mut begin = |number: usize| {
        let mut request = request();
        request["id"] = format!("task-{number}").into();
        client.call("task_run", json!({"request": request, "wait": false}))
    };
    for number in 0..32 {
        assert_eq!(done(&begin(number))["state"], "running");
    }
    let refused = begin(32);
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"]["code"], "too-many-runs");
    client.does("task_cancel", json!({"task": "task-7"}));
    let mut request = request();
    request["id"] = "task-32".into();
    client.does("task_run", json!({"request": request, "wait": false}));
    assert_eq!(client.leave().code, Some(0));
}

/// Each is a process of its own.
#[test]
fn two_servers_work_in_one_workspace() {
    let workspace = Workspace::new();
    let mut servers = [(); 2].map(|()| Client::start(scripted(&workspace)));
    let asked = [0, 1].map(|at: usize| {
        let mut request = request();
        request["id"] = format!("task-{at}").into();
        servers[at].ask(
            "tools/call",
            call("task_run", json!({ "request": request })),
        )
    });
    for (server, id) in servers.iter_mut().zip(asked) {
        let answer = server.answer(id);
        assert_eq!(done(&answer["result"])["report"]["status"], "completed");
    }
    for server in &mut servers {
        let tasks = server.does("task_status", json!({}))["tasks"].clone();
        assert_eq!(tasks.as_array().unwrap().len(), 2);
    }
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}
