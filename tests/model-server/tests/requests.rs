//! What is recorded of requests, and which are refused.

use std::time::Duration;

use model_server::{Reply, Server};
use serde_json::json;

use crate::client::{Answer, Client, PATIENCE};

const MOST: usize = 16 * 1024 * 1024;

#[test]
fn a_request_is_recorded_as_it_came() {
    let server = Server::start(vec![Reply::chat("a"), Reply::chat("b")]).unwrap();
    let mut idle = Client::of(server.address());
    idle.ask("{}");
    let mut client = Client::of(server.address());
    client.send(
        b"PUT /v1/x?y=%20 HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer k\r\nX-A: 1\r\nx-a: \xff2\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
    );
    client.answer();
    let received = server.received();
    let request = &received[1];
    assert_eq!(
        (&*request.method, &*request.target, &*request.version),
        ("PUT", "/v1/x?y=%20", "HTTP/1.1")
    );
    let headers: Vec<_> = request
        .headers
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    assert_eq!(
        headers,
        [
            ("host", "h:1"),
            ("authorization", "Bearer k"),
            ("x-a", "1"),
            ("x-a", "\u{fffd}2"),
            ("content-length", "7"),
        ]
    );
    assert_eq!(request.header("AUTHORIZATION"), Some("Bearer k"));
    assert_eq!(request.header("x-a"), Some("1"));
    assert_eq!(request.header("x-b"), None);
    assert_eq!(request.body, b"{\"a\":1}");
    assert_eq!(request.json(), json!({ "a": 1 }));
    assert_eq!((received[0].connection, request.connection), (0, 1));
}

#[test]
#[should_panic(expected = "the body of POST /v1/chat/completions is not JSON")]
fn a_body_that_is_no_json_is_told_where_json_was_expected() {
    let server = Server::start(vec![]).unwrap();
    Client::of(server.address()).ask("{");
    server.received()[0].json();
}

#[test]
fn waiting_for_requests_ends_with_them_or_with_the_time() {
    let server = Server::start(vec![Reply::chat("a")]).unwrap();
    assert!(!server.wait_for(1, Duration::from_millis(5)));
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(server.wait_for(1, PATIENCE)));
        Client::of(server.address()).ask("{}");
    });
    assert!(server.wait_for(0, Duration::ZERO));
    assert!(
        !server.wait_closed(7, Duration::from_millis(5)),
        "there is no such connection"
    );
}

#[test]
fn a_body_in_chunks_is_read_wherever_the_network_cuts_it() {
    let server = Server::start(vec![Reply::chat("a"), Reply::chat("b")]).unwrap();
    let mut client = Client::of(server.address());
    let request = "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nab\r\r\nA\r\n0123456789\r\n0\r\nx-trailer: 1\r\n\r\n";
    for byte in request.bytes() {
        client.send([byte]);
    }
    client.answer();
    client.send(request);
    client.answer();
    for request in server.received() {
        assert_eq!(request.body, b"ab\r0123456789");
    }
}

#[test]
fn a_client_that_expects_a_word_before_its_body_gets_it() {
    let server = Server::start(vec![Reply::chat("a"), Reply::chat("b")]).unwrap();
    let mut client = Client::of(server.address());
    for framing in ["content-length: 2", "transfer-encoding: chunked"] {
        client.send(format!(
            "POST / HTTP/1.1\r\n{framing}\r\nExpect: 100-Continue\r\n\r\n"
        ));
        assert_eq!(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        let chunked = framing.ends_with("chunked");
        client.send(if chunked {
            "2\r\n{}\r\n0\r\n\r\n"
        } else {
            "{}"
        });
        assert_eq!(client.answer().status(), 200);
    }
    assert!(
        server
            .received()
            .iter()
            .all(|request| request.body == b"{}")
    );
}

#[test]
fn the_largest_body_is_taken() {
    let server = Server::start(vec![Reply::chat("a")]).unwrap();
    assert_eq!(
        Client::of(server.address()).ask(&"x".repeat(MOST)).status(),
        200
    );
    assert_eq!(server.received()[0].body.len(), MOST);
}

#[test]
fn a_request_that_ends_too_early_is_none() {
    for request in [
        "POST / HT",
        "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\n{}",
    ] {
        let server = Server::start(vec![Reply::chat("a")]).unwrap();
        let mut client = Client::of(server.address());
        client.send(request);
        client.0.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(client.rest(), b"");
        assert!(server.wait_closed(0, PATIENCE));
        assert_eq!(server.received(), []);
    }
}

fn refusal(request: impl AsRef<[u8]>) -> Answer {
    let server = Server::start(vec![Reply::chat("a")]).unwrap();
    let mut client = Client::of(server.address());
    client.send(request);
    let answer = client.answer();
    assert_eq!(client.rest(), b"", "the connection ends");
    assert_eq!(server.received(), []);
    answer
}

#[test]
fn what_is_no_http_or_too_large_is_refused_and_uses_up_no_reply() {
    let post = |rest: &str| format!("POST / HTTP/1.1\r\n{rest}");
    let too_large = format!("content-length: {}\r\n\r\n", MOST + 1);
    let chunk_too_large = format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n", MOST + 1);
    for (status, request) in [
        (400, "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03".to_owned()),
        (400, post("content-length: x\r\n\r\n")),
        (400, post("content-length: +1\r\n\r\n")),
        (400, post("content-length: 1\r\ncontent-length: 2\r\n\r\n")),
        (
            400,
            post("content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"),
        ),
        (400, post("transfer-encoding: chunked\r\n\r\nx\r\n")),
        (400, post("transfer-encoding: chunked\r\n\r\n1\r\nab\r\n")),
        (
            400,
            post(&format!(
                "transfer-encoding: chunked\r\n\r\n{}",
                "1".repeat(5000)
            )),
        ),
        (413, post(&too_large)),
        (413, post("content-length: 99999999999999999999999\r\n\r\n")),
        (413, post(&chunk_too_large)),
        (
            413,
            post("transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"),
        ),
        (431, post(&format!("x: {}", "y".repeat(70_000)))),
        (431, post(&("x: y\r\n".repeat(129) + "\r\n"))),
        (501, post("transfer-encoding: gzip, chunked\r\n\r\n")),
    ] {
        let answer = refusal(&request);
        let shown: String = request.chars().take(80).collect();
        assert_eq!(answer.status(), status, "{shown}: {}", answer.body);
        assert!(answer.json()["error"]["message"].is_string());
    }
}
