//! The protocol over HTTP: who is answered, and that clients do not disturb each other.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};
use wharf_tests::{
    Workspace,
    mcp::{HttpServer, done, headers, hello, mcp, refused},
    patience::PATIENCE,
    probe::{self, TASK},
    script, wharf,
};

fn server(workspace: &Workspace) -> HttpServer {
    let script = workspace.script(&[script::says(probe::plan("change"))]);
    HttpServer::start(
        mcp(workspace.path())
            .arg("--plugin")
            .arg(probe::component())
            .script(script),
    )
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()})
}

#[test]
fn two_clients_work_on_one_server() {
    let workspace = Workspace::new();
    let server = server(&workspace);
    let line = format!("listening on http://127.0.0.1:{}/mcp", server.port);
    assert_eq!(server.line, line);
    let sessions = [(); 2].map(|()| server.begin());
    assert_ne!(sessions[0], sessions[1]);
    let answers = std::thread::scope(|scope| {
        let runs = [0, 1].map(|at: usize| {
            let (server, session) = (&server, &sessions[at]);
            scope.spawn(move || {
                let mut request = probe::request("nothing");
                request["id"] = format!("task-{at}").into();
                server.call(session, "task_run", json!({ "request": request }))
            })
        });
        runs.map(|run| run.join().unwrap())
    });
    for answer in &answers {
        assert_eq!(done(answer)["report"]["status"], "completed");
    }
    for session in &sessions {
        let status = done(&server.call(session, "task_status", json!({})));
        assert_eq!(status["tasks"].as_array().unwrap().len(), 2);
    }
    let nobody = server.call(&sessions[0], "task_cancel", json!({"task": TASK}));
    assert_eq!(refused(&nobody)["code"], "task-not-running");
    let (code, stdout, stderr) = server.end("TERM");
    assert_eq!((code, &*stdout, &*stderr), (Some(0), "", ""));
}

/// DNS rebinding: a page's own name leads to this machine, and the browser says that name.
#[test]
fn a_request_that_names_another_host_is_refused() {
    let workspace = Workspace::new();
    let server = server(&workspace);
    let port = server.port;
    let with_host = |host: &str| {
        let mut headers = headers(None);
        headers.push(("Host", host));
        server
            .send("POST", "/mcp", &headers, &initialize().to_string())
            .status
    };
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
    ] {
        assert_eq!(with_host(&host), 200, "{host}");
    }
    for host in [
        format!("attacker.example:{port}"),
        format!("127.0.0.1.attacker.example:{port}"),
        format!("localhost.attacker.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("192.168.0.1:{port}"),
        String::new(),
    ] {
        let status = with_host(&host);
        assert!(status == 403 || status == 400, "{host}: {status}");
    }
    assert!(!workspace.path().exists());
}

#[test]
fn a_request_of_another_origin_is_refused() {
    let workspace = Workspace::new();
    let server = server(&workspace);
    let port = server.port;
    let with_origin = |origin: &str| {
        let mut headers = headers(None);
        headers.push(("Origin", origin));
        server
            .send("POST", "/mcp", &headers, &initialize().to_string())
            .status
    };
    for origin in [
        format!("http://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
    ] {
        assert_eq!(with_origin(&origin), 200, "{origin}");
    }
    for origin in [
        "http://attacker.example".to_owned(),
        "https://attacker.example".to_owned(),
        "null".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        "http://127.0.0.1".to_owned(),
        format!("http://attacker.example:{port}"),
    ] {
        assert_eq!(with_origin(&origin), 403, "{origin}");
    }
}

#[test]
fn an_address_that_others_reach_is_bad_usage() {
    let workspace = Workspace::new();
    for address in [
        "0.0.0.0:0",
        "192.168.0.1:8080",
        "[::]:0",
        "8080",
        "localhost",
        "",
    ] {
        let ran = mcp(workspace.path()).arg(format!("--http={address}")).run();
        ran.refusal(2, "usage");
    }
    let server = server(&workspace);
    let taken = format!("127.0.0.1:{}", server.port);
    let ran = mcp(workspace.path()).args(["--http", &taken]).run();
    ran.refusal(1, "address-unavailable");
}

#[test]
fn what_is_no_message_of_a_session_is_answered_as_http_has_it() {
    let workspace = Workspace::new();
    let server = server(&workspace);
    let session = server.begin();
    let post = |body: &str| {
        server
            .send("POST", "/mcp", &headers(Some(&session)), body)
            .status
    };
    assert_eq!(server.send("GET", "/", &[], "").status, 404);
    assert_eq!(
        server.send("POST", "/mcp/", &headers(None), "{}").status,
        404
    );
    assert_eq!(server.send("PUT", "/mcp", &headers(None), "{}").status, 405);
    assert_eq!(server.send("POST", "/mcp", &[], "{}").status, 406);
    assert!((400..500).contains(&post("{")));
    assert_eq!(post(&"x".repeat(4 * 1024 * 1024 + 1)), 413);
    let status = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    assert_eq!(server.post(Some("not-a-session"), &status).status, 404);
    assert_eq!(server.post(Some(&session), &status).status, 200);
    assert_eq!(
        server
            .send("DELETE", "/mcp", &headers(Some(&session)), "")
            .status,
        202
    );
    assert_eq!(server.post(Some(&session), &status).status, 404);
}

/// What clients leave behind that vanish has an end.
#[test]
fn a_further_session_takes_the_place_of_the_one_that_was_longest_without_a_message() {
    let workspace = Workspace::new();
    let server = server(&workspace);
    let sessions: Vec<_> = (0..64).map(|_| server.begin()).collect();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let lives = |session: &String| server.post(Some(session), &list).status == 200;
    // The first is used, so that the second is the one that is longest without a message.
    assert!(lives(&sessions[0]));
    let further = server.begin();
    assert!(lives(&further) && lives(&sessions[0]));
    assert!(!lives(&sessions[1]));
    assert!(lives(&sessions[2]));
}

#[test]
fn a_task_that_runs_when_the_server_ends_can_be_resumed() {
    let workspace = Workspace::new();
    let model = model_server::Server::start(vec![model_server::Reply::wire(vec![
        model_server::Piece::Hang,
    ])])
    .unwrap();
    let server = HttpServer::start(
        mcp(workspace.path())
            .arg("--plugin")
            .arg(probe::component())
            .model(&model),
    );
    let session = server.begin();
    let run = json!({"request": probe::request("nothing")});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "task_run", "arguments": run}});
    let waiting = server.open("POST", "/mcp", &headers(Some(&session)), &call.to_string());
    assert!(model.wait_for(1, PATIENCE));
    let (code, ..) = server.end("INT");
    assert_eq!(code, Some(0));
    drop(waiting);
    let script = workspace.script(&[script::says(probe::plan("change"))]);
    let resume = wharf("resume").dir(workspace.path()).script(script);
    let _ = resume.run().exits(0);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

/// Else 256 clients that never end what they say would keep out all others.
#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let workspace = Workspace::new();
    let server = server(&workspace);
    let mut client = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        server.port
    );
    client.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    // It was answered while others were.
    let _ = server.begin();
}
