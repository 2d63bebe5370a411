//! The plan that clients share.

use serde_json::{Value, json};
use wharf_tests::{
    Workspace,
    mcp::{Client, HttpServer, done, mcp},
};

fn step(id: &str, status: &str) -> Value {
    json!({"id": id, "title": format!("Do {id}"), "status": status})
}

#[test]
fn a_plan_is_read_back_from_a_server_that_was_started_anew() {
    let workspace = Workspace::new();
    let mut client = Client::start(mcp(workspace.path()).args(["--tenant", "me"]));
    assert_eq!(client.does("plan_read", json!({})), Value::Null);
    let plan = json!({"steps": [step("a", "in_progress"), step("b", "pending")]});
    let written = client.does("plan_write", json!({ "plan": plan }));
    assert_eq!(written, json!({"status": "ok", "version": 1}));
    // As `kill -9` does it: what was answered is durable.
    client.kill();
    let mut client = Client::start(mcp(workspace.path()));
    let read = client.does("plan_read", json!({}));
    assert_eq!((&read["version"], &read["plan"]), (&json!(1), &plan));
    assert_eq!(read["updatedBy"], "mcp:tests");
    let broken = json!({"plan": {"steps": [step("a", "pending"), step("a", "pending")]}});
    assert_eq!(client.refuses("plan_write", broken)["code"], "invalid-plan");
    assert_eq!(client.does("plan_read", json!({})), read);
    // Whose workspace it is stays as it was.
    let mut stranger = Client::start(mcp(workspace.path()).args(["--tenant", "you"]));
    let refused = stranger.refuses("plan_read", json!({}));
    assert_eq!(refused["code"], "workspace-other-tenant", "{refused}");
}

/// SQLite refuses all but one of those who open a new file at once, without waiting: one call in six was `database-locked`.
#[test]
fn servers_that_make_a_workspace_at_once_are_all_answered() {
    for _ in 0..20 {
        let workspace = Workspace::new();
        let mut servers = [(); 3].map(|()| Client::start(mcp(workspace.path())));
        std::thread::scope(|scope| {
            for server in &mut servers {
                scope.spawn(move || server.does("memory_add", json!({"content": "x"})));
            }
        });
        let kept = "SELECT count(*) FROM memories";
        assert_eq!(workspace.select_in("memory.sqlite", kept), ["3"]);
    }
}

/// Each is a process of its own, and writes its own step.
#[test]
fn two_servers_share_a_plan_and_lose_no_step() {
    let workspace = Workspace::new();
    let mut servers = [(); 2].map(|()| Client::start(mcp(workspace.path())));
    std::thread::scope(|scope| {
        for (at, server) in servers.iter_mut().enumerate() {
            scope.spawn(move || {
                for number in 0..20 {
                    let step = step(&format!("s{at}-{number}"), "pending");
                    server.does("plan_write", json!({ "step": step }));
                }
            });
        }
    });
    for server in &mut servers {
        let read = server.does("plan_read", json!({}));
        assert_eq!(read["version"], 40);
        assert_eq!(read["plan"]["steps"].as_array().unwrap().len(), 40);
    }
    // Who has not seen what another wrote, overwrites nothing if it says so.
    let stale = json!({"step": step("c", "pending"), "expectedVersion": 39});
    let refused = servers[0].refuses("plan_write", stale);
    assert_eq!(refused["code"], "version-conflict", "{refused}");
}

#[test]
fn what_one_client_remembers_another_finds() {
    let workspace = Workspace::new();
    let server = HttpServer::start(mcp(workspace.path()));
    let [writer, reader] = [(); 2].map(|()| server.begin());
    let object = json!({"content": "The harbour opens at dawn.", "categories": ["places"]});
    let kept = done(&server.call(&writer, "memory_add", object));
    let found = done(&server.call(&reader, "memory_search", json!({"text": "harbour"})));
    assert_eq!(found["objects"].as_array().unwrap().len(), 1, "{found}");
    let id = json!({"id": kept["id"]});
    let read = done(&server.call(&reader, "memory_get", id.clone()));
    assert_eq!(read["content"], "The harbour opens at dawn.");
    let removed = done(&server.call(&writer, "memory_delete", id.clone()));
    assert_eq!(removed, json!({"deleted": true}));
    let gone = done(&server.call(&reader, "memory_get", id));
    assert_eq!(gone, Value::Null);
}
