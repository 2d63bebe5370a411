//! Times and sizes: each has a bound, and each bound a server that it fires on.

use std::{
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use model_server::{Framing, Piece, Reply};
use serde_json::json;
use wharf::technologies::chat::{ChatFault, ChatSettings};

use super::{PATIENCE, ask, client, finish, request, settings, start, text};

/// The fault of one attempt at a server with this reply, under settings that are changed so.
fn fault(reply: Reply, change: impl FnOnce(&mut ChatSettings)) -> ChatFault {
    let server = start(vec![reply]);
    let mut settings = settings(&server);
    change(&mut settings);
    let begin = Instant::now();
    let fault = ask(&client(settings)).fault();
    assert!(begin.elapsed() < PATIENCE, "no limit fired");
    assert!(
        server.wait_closed(0, PATIENCE),
        "the connection is closed with the attempt"
    );
    fault
}

fn expects(fault: &ChatFault, code: &str, retryable: bool, says: &str) {
    assert_eq!(
        (fault.code(), fault.retryable()),
        (code, retryable),
        "{fault:?}"
    );
    assert!(fault.message().contains(says), "{}", fault.message());
}

#[test]
fn a_server_that_says_nothing_meets_the_first_bound() {
    for reply in [
        // Not even a head.
        Reply::wire(vec![Piece::Hang]),
        // A head and no body.
        Reply::sse(Vec::<String>::new()).then(Piece::Hang),
        Reply::json(200, &json!({}))
            .pieces(vec![Piece::Hang])
            .framing(Framing::Chunked),
    ] {
        let fault = fault(reply, |it| it.first_byte_timeout_ms = 300);
        expects(
            &fault,
            "model-first-byte-timeout",
            true,
            "nothing came for 300 ms",
        );
    }
}

#[test]
fn the_first_bound_counts_from_the_beginning_of_the_attempt() {
    let refusal = Reply::error(400, "response_format is unknown");
    let slow = |reply: Reply| {
        let mut pieces = vec![Piece::Wait(Duration::from_millis(600))];
        pieces.extend(reply.pieces.clone());
        reply.pieces(pieces)
    };
    let replies = vec![
        slow(refusal.clone()),
        slow(refusal),
        slow(Reply::chat("late")),
    ];
    let server = start(replies);
    let mut settings = settings(&server);
    settings.first_byte_timeout_ms = 1_000;
    let fault = ask(&client(settings)).fault();
    assert_eq!(fault.code(), "model-first-byte-timeout");
}

#[test]
fn a_server_that_stops_in_the_middle_meets_the_second_bound() {
    for reply in [
        Reply::sse([text("a")]).then(Piece::Hang),
        Reply::json(200, &json!({}))
            .then(Piece::Hang)
            .framing(Framing::Chunked),
    ] {
        let fault = fault(reply, |it| it.idle_timeout_ms = 300);
        expects(
            &fault,
            "model-idle-timeout",
            true,
            "nothing came for 300 ms",
        );
    }
}

#[test]
fn a_server_that_drips_meets_the_last_bound() {
    let comments = vec![Piece::Bytes(b": wait\n".to_vec()); 1000];
    let reply = Reply::sse(Vec::<String>::new())
        .pieces(comments)
        .drip(Duration::from_millis(50));
    let fault = fault(reply, |it| {
        it.idle_timeout_ms = 5_000;
        it.timeout_ms = 600;
    });
    expects(&fault, "model-timeout", false, "it took more than 600 ms");
}

#[test]
fn a_slow_server_within_the_bounds_is_waited_for() {
    let reply = Reply::chat_stream("slowly", 1).drip(Duration::from_millis(200));
    let server = start(vec![reply]);
    let mut settings = settings(&server);
    // Less than the whole takes.
    settings.idle_timeout_ms = 1_500;
    settings.first_byte_timeout_ms = 1_500;
    assert_eq!(ask(&client(settings)).answer().text, "slowly");
}

#[test]
fn a_server_that_takes_no_connection_meets_the_connections_bound() {
    // A proxy that takes the connection and never opens the tunnel: to connect is not over.
    let server = start(vec![Reply::wire(vec![Piece::Hang])]);
    let mut settings = ChatSettings::new("https://model.invalid/v1", "m");
    settings.proxy = Some(format!("http://{}", server.address()));
    settings.connect_timeout_ms = 300;
    let fault = ask(&client(settings)).fault();
    expects(&fault, "model-connect-timeout", true, "");
}

#[test]
fn a_port_where_nobody_listens_is_no_connection() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let settings = ChatSettings::new(format!("http://{free}/v1"), "m");
    let fault = ask(&client(settings)).fault();
    expects(&fault, "model-connect", true, "refused");
    assert_eq!(fault.status(), None);
}

#[test]
fn a_connection_that_ends_without_an_answer_is_lost() {
    for reply in [
        Reply::wire(vec![Piece::Close]),
        Reply::wire(vec![Piece::Reset]),
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-"),
        Reply::raw("SSH-2.0-OpenSSH\r\n"),
    ] {
        let fault = fault(reply, |_| ());
        expects(&fault, "model-connection-lost", true, "");
    }
}

#[test]
fn a_response_has_a_bound_whatever_it_holds() {
    let chunk = || Piece::Bytes(vec![b':'; 1000]);
    for reply in [
        // Events that never end, and say nothing.
        Reply::sse(Vec::<String>::new()).pieces(vec![chunk(), chunk(), chunk(), Piece::Hang]),
        Reply::json(200, &json!({}))
            .pieces(vec![chunk(), chunk(), chunk(), Piece::Hang])
            .framing(Framing::Chunked),
        // Refused by what it promises.
        Reply::json(200, &json!({}))
            .pieces(vec![Piece::Hang])
            .framing(Framing::ContentLengthOf(1 << 40)),
    ] {
        let fault = fault(reply, |it| it.max_response_bytes = 2048);
        expects(
            &fault,
            "model-response-too-large",
            false,
            "more than 2048 bytes",
        );
    }
}

#[test]
fn an_answer_has_a_bound_of_its_own() {
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [
        { "index": 0, "id": "c", "function": { "name": "n", "arguments": "x".repeat(100) } },
    ] } }] });
    for reply in [
        Reply::chat_stream("x".repeat(101), 10),
        Reply::chat("x".repeat(101)),
        Reply::sse([call.to_string(), finish("tool_calls")]),
    ] {
        let fault = fault(reply, |it| it.max_answer_bytes = 100);
        expects(
            &fault,
            "model-answer-too-large",
            false,
            "more than 100 bytes",
        );
    }
    let server = start(vec![Reply::chat_stream("x".repeat(100), 10)]);
    let mut settings = settings(&server);
    settings.max_answer_bytes = 100;
    assert_eq!(ask(&client(settings)).answer().text.len(), 100);
}

#[test]
fn an_error_is_read_to_a_bound_and_for_a_time() {
    let endless = Reply::new(500)
        .pieces(vec![
            Piece::Bytes(vec![b'x'; 64 * 1024]),
            Piece::Bytes(b"yyy".to_vec()),
            Piece::Hang,
        ])
        .framing(Framing::Chunked);
    let said = fault(endless, |_| ());
    expects(&said, "model-server-error", true, "xxx");
    assert!(!said.message().contains('y') && said.message().len() <= 600);
    // The status is enough where the words do not come.
    let silent = Reply::new(401)
        .pieces(vec![Piece::Hang])
        .framing(Framing::Chunked);
    let said = fault(silent, |it| it.idle_timeout_ms = 200);
    expects(&said, "model-unauthorized", false, "status 401");
    let cut = Reply::new(503)
        .pieces(vec![Piece::Bytes(b"busy".to_vec()), Piece::Reset])
        .framing(Framing::Chunked);
    expects(&fault(cut, |_| ()), "model-overloaded", true, "status 503");
}

#[test]
fn who_does_not_want_the_answer_any_more_closes_the_connection() {
    let replies = vec![
        Reply::wire(vec![Piece::Hang]),
        Reply::sse([text("a")]).then(Piece::Hang),
    ];
    let server = start(replies);
    let client = Arc::new(client(settings(&server)));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    for connection in [0, 1] {
        let asking = Arc::clone(&client);
        // Also shows that the future may move between threads.
        let task = runtime.spawn(async move { asking.complete(&request(), &|_| ()).await });
        assert!(server.wait_for(connection + 1, PATIENCE));
        assert!(!server.wait_closed(connection, Duration::from_millis(200)));
        task.abort();
        assert!(server.wait_closed(connection, PATIENCE));
    }
}
