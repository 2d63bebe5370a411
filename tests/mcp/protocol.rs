//! The protocol on standard input and output.

use serde_json::{Value, json};
use wharf_tests::{
    Workspace,
    mcp::{Client, call, hello, mcp},
};

/// What each tool says of itself, schemas and annotations included.
fn listed(client: &mut Client) -> Vec<Value> {
    let answer = client.request("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn a_session_begins_and_says_who_serves() {
    let workspace = Workspace::new();
    let mut client = Client::speechless(mcp(workspace.path()));
    let answer = client.request("initialize", hello());
    let result = &answer["result"];
    assert_eq!(result["serverInfo"]["name"], "wharf");
    assert_eq!(result["serverInfo"]["version"], "0.1.0");
    assert!(result["capabilities"]["tools"].is_object(), "{answer}");
    let told = result["instructions"].as_str().unwrap();
    assert!(told.contains("plan_write"), "{told}");
}

/// The names, what each does to the world, and that every schema is one that clients can use.
#[test]
fn every_tool_has_a_description_annotations_and_valid_schemas() {
    let workspace = Workspace::new();
    let mut client = Client::start(mcp(workspace.path()));
    let tools = listed(&mut client);
    let mut lines = Vec::new();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        for member in ["inputSchema", "outputSchema"] {
            if let Some(schema) = tool.get(member) {
                assert!(jsonschema::meta::is_valid(schema), "{name}: {schema}");
                assert_eq!(schema["type"], "object", "{name}: {schema}");
            }
        }
        assert!(tool["inputSchema"].is_object(), "{tool}");
        let hint = |hint: &str| tool["annotations"][hint].as_bool().unwrap();
        lines.push(format!(
            "{name}: read-only {}, destructive {}, idempotent {}, open world {}, takes {}, answers {}",
            hint("readOnlyHint"),
            hint("destructiveHint"),
            hint("idempotentHint"),
            hint("openWorldHint"),
            members(&tool["inputSchema"]),
            members(tool.get("outputSchema").unwrap_or(&Value::Null)),
        ));
    }
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("mcp-tools", lines.join("\n"));
    });
    // Nothing was written: the workspace is made by the first call that writes.
    assert!(!workspace.path().exists());
}

fn members(schema: &Value) -> String {
    let members = schema["properties"].as_object();
    members.map_or_else(
        || "no structure".to_owned(),
        |members| members.keys().cloned().collect::<Vec<_>>().join(" "),
    )
}

/// A model reads results; a fault of the protocol it never sees.
#[test]
fn what_a_tool_refuses_is_a_result_and_a_fault_of_the_protocol_is_an_error() {
    let workspace = Workspace::new();
    let mut client = Client::start(mcp(workspace.path()));
    let refused = client.refuses("task_run", json!({"request": {}}));
    assert_eq!(refused["code"], "request-form");
    assert_eq!(refused["kind"], "invalid-input");
    for member in ["message", "why", "hint"] {
        assert!(!refused[member].as_str().unwrap().is_empty(), "{refused}");
    }
    for (tool, arguments) in [
        ("task_run", json!({"file": "/etc/passwd"})),
        ("task_run", json!({"request": {}, "plugin": "/etc/passwd"})),
        ("task_status", json!({"task": "../x"})),
        ("task_resume", json!({})),
        ("task_cancel", json!({"task": 1})),
    ] {
        let refused = client.refuses(tool, arguments);
        assert_eq!(refused["code"], "tool-arguments", "{refused}");
    }
    assert_eq!(
        client.refuses("task_resume", json!({"task": "nobody"}))["code"],
        "no-task"
    );
    // Some clients hold an error against the schema of answers as well.
    let tools = listed(&mut client);
    let run = tools
        .iter()
        .find(|tool| tool["name"] == "task_run")
        .unwrap();
    assert!(jsonschema::is_valid(&run["outputSchema"], &refused));
    assert!(!jsonschema::is_valid(&run["outputSchema"], &json!({})));
    // The host's own tools refuse in their own words.
    let refused = client.refuses("plan_write", json!({"plam": {}}));
    assert_eq!(refused["code"], "invalid-arguments", "{refused}");
    assert_eq!(refused["retryable"], false);
    let unknown = client.request("tools/call", call("task_rum", json!({})));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let unknown = client.request("tools/cal", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
}

/// Neither ends the session, and what follows is answered.
#[test]
fn a_line_that_is_no_message_is_passed_over() {
    let workspace = Workspace::new();
    let mut client = Client::start(mcp(workspace.path()));
    for line in ["{", "", "\u{1b}[31m", "{\"jsonrpc\": \"2.0\", "] {
        client.send(line);
    }
    client.send(&"x".repeat(5 * 1024 * 1024));
    client.complains("exceeded the maximum line length");
    let huge =
        json!({"jsonrpc": "2.0", "id": 7, "method": "ping", "x": "y".repeat(5 * 1024 * 1024)});
    client.send(&huge.to_string());
    assert_eq!(client.does("task_status", json!({}))["tasks"], json!([]));
    // JSON, but no message of the protocol: the one fault of a line that has an answer.
    client.send("[1]");
    assert_eq!(client.hear()["error"]["code"], -32600);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert_eq!(client.leave().code, Some(0));
}

/// The harness holds every line against the protocol; here the most is logged that can be.
#[test]
fn standard_output_carries_the_protocol_alone() {
    let workspace = Workspace::new();
    let mut client = Client::start(mcp(workspace.path()).json().env("WHARF_LOG", "trace"));
    client.does("task_status", json!({}));
    client.refuses("task_run", json!({"request": {}}));
    let parted = client.leave();
    assert_eq!((parted.code, parted.messages), (Some(0), vec![]));
    let logged = parted.stderr.contains("received request");
    assert!(logged, "{}", parted.stderr);
}

#[test]
fn the_server_ends_with_its_client_or_by_a_signal() {
    let workspace = Workspace::new();
    let before_a_session = Client::speechless(mcp(workspace.path())).leave();
    assert_eq!(before_a_session.code, Some(0), "{before_a_session:?}");
    for signal in ["TERM", "INT"] {
        let client = Client::start(mcp(workspace.path()));
        client.signal(signal);
        let parted = client.parted();
        assert_eq!(parted.code, Some(0), "{signal}: {parted:?}");
        assert_eq!(parted.stderr, "");
    }
}

#[test]
fn a_client_that_does_not_begin_a_session_is_told_so() {
    let workspace = Workspace::new();
    let mut client = Client::speechless(mcp(workspace.path()));
    client.notify("notifications/initialized", json!({}));
    let parted = client.parted();
    assert_eq!(parted.code, Some(2), "{parted:?}");
    assert!(
        parted.stderr.starts_with("error[mcp-handshake]"),
        "{parted:?}"
    );
}

/// What is asked before the end of standard input is answered all the same.
#[test]
fn what_was_asked_last_is_answered_before_the_server_ends() {
    let workspace = Workspace::new();
    let mut client = Client::start(mcp(workspace.path()));
    for _ in 0..50 {
        client.ask("tools/call", call("task_status", json!({})));
    }
    let parted = client.leave();
    assert_eq!((parted.code, parted.messages.len()), (Some(0), 50));
}

#[test]
fn a_last_line_that_nobody_ended_is_answered() {
    let workspace = Workspace::new();
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()});
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let arguments = json!({"id": "note", "content": "x"});
    let keep = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_upsert", "arguments": arguments}});
    let session = workspace.handed_in("session.jsonl", format!("{initialize}\n{begun}\n{keep}"));
    let mut command = mcp(workspace.path()).into_command();
    command.stdin(std::fs::File::open(session).unwrap());
    let output = command.output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), 2, "{answers}");
    let kept = "SELECT id FROM memories";
    assert_eq!(workspace.select_in("memory.sqlite", kept), ["note"]);
}
