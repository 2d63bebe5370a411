//! A key is sent to its server and stands nowhere else: not in what is printed, logged, kept or published.

use std::path::Path;

use model_server::{Piece, Reply, Server};
use serde_json::json;
use wharf_tests::{
    Ran, Wharf, Workspace, demo,
    hostile_program::holds_nowhere,
    model::{KEY, streamed},
    script::{WHOLE, ready},
    wharf,
};

/// Everything is logged.
fn logged(run: Wharf) -> Ran {
    run.env("WHARF_LOG", "trace")
        .env("RUST_BACKTRACE", "full")
        .run()
}

#[track_caller]
fn shows_no_secret(ran: &Ran, workspace: &Path) {
    // A half of it is too much as well.
    for part in [KEY, &KEY[..12], &KEY[12..]] {
        assert!(!ran.stdout.contains(part), "{}", ran.stdout);
        assert!(!ran.stderr.contains(part), "{}", ran.stderr);
        holds_nowhere(workspace, part);
    }
}

fn echo() -> String {
    format!("Incorrect API key provided: {KEY}. Sent: Bearer {KEY}")
}

#[test]
fn a_key_is_nowhere_after_a_run_and_everything_that_looks_at_it() {
    let server = Server::start(vec![streamed(&ready(&WHOLE))]).unwrap();
    let workspace = Workspace::new();
    let dir = workspace.path();
    let ran = logged(demo::demo(&workspace, "stable").model(&server).json()).exits(0);
    assert_eq!(
        server.received()[0].header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
    assert!(
        ran.stderr.contains("asked a model"),
        "the log is on: {}",
        ran.stderr
    );
    shows_no_secret(&ran, &dir);
    for run in ["status", "audit"] {
        shows_no_secret(
            &logged(wharf(run).dir(&dir).provider(&server)).exits(0),
            &dir,
        );
    }
    shows_no_secret(
        &logged(wharf("resume").dir(&dir).model(&server).json()).exits(0),
        &dir,
    );
}

#[test]
fn a_server_that_repeats_the_key_is_not_repeated() {
    let cut = format!(
        "data: {{\"error\":{{\"message\":\"{}\",\"code\":\"x\"}}}}\n\n",
        echo()
    );
    let mut with_key = ready(&WHOLE);
    with_key["reason"] = echo().into();
    let spelled: String = KEY
        .chars()
        .map(|letter| format!("\\u{:04x}", u32::from(letter)))
        .collect();
    for reply in [
        Reply::error(401, &echo()),
        Reply::error(
            400,
            &echo().replace(KEY, &format!("{}****{}", &KEY[..12], &KEY[12..])),
        ),
        Reply::error(500, &echo()),
        Reply::json(403, &json!({"detail": [{"loc": [KEY], "msg": echo()}]})),
        Reply::new(418).pieces(vec![Piece::Bytes(echo().into_bytes())]),
        Reply::new(400).pieces(vec![Piece::Bytes(
            format!("{{\"error\":{{\"message\":\"{spelled}\"}}}}").into_bytes(),
        )]),
        Reply::new(302).header("location", &format!("http://127.0.0.1:1/{KEY}")),
        Reply::new(200)
            .header("content-type", "text/event-stream")
            .pieces(vec![Piece::Bytes(cut.into_bytes())]),
        Reply::new(200).header("content-type", &format!("text/{KEY}")),
        Reply::chat(echo()),
        Reply::chat_stream(with_key.to_string(), 5),
    ] {
        let shown = format!("{} {:?}", reply.status, reply.headers);
        let server = Server::start(vec![reply]).unwrap();
        let workspace = Workspace::new();
        let run = demo::demo(&workspace, "stable")
            .model(&server)
            .env("WHARF__PROVIDERS__TEST__RETRIES", "0");
        let ran = logged(run).exits(1);
        assert!(
            ran.stderr.contains("error[model-failed]"),
            "{shown}: {}",
            ran.stderr
        );
        shows_no_secret(&ran, &workspace.path());
    }
}

/// Nobody but the server that the operator named is given it.
#[test]
fn a_key_follows_no_redirect() {
    let elsewhere = Server::start(vec![streamed(&ready(&WHOLE))]).unwrap();
    let away = Reply::new(307).header(
        "location",
        &format!("{}/chat/completions", elsewhere.base_url()),
    );
    let server = Server::start(vec![away]).unwrap();
    let workspace = Workspace::new();
    let ran = logged(demo::demo(&workspace, "stable").model(&server)).exits(1);
    assert!(ran.stderr.contains("model-redirect"), "{}", ran.stderr);
    assert_eq!(elsewhere.connections(), 0);
    shows_no_secret(&ran, &workspace.path());
}
