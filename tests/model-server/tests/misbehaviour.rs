//! What no good server does.

use std::{
    io::{ErrorKind, Write},
    net::Shutdown,
    time::Duration,
};

use model_server::{Framing, Piece, Reply, Server};

use crate::client::{Client, PATIENCE, header};

const LONG: Duration = Duration::from_secs(3600);

fn bytes(text: &str) -> Piece {
    Piece::Bytes(text.into())
}

#[test]
fn a_length_may_be_a_lie_in_both_directions() {
    let lie = |length| {
        let reply = Reply::new(200).pieces(vec![bytes("abc")]);
        reply.framing(Framing::ContentLengthOf(length))
    };
    for length in [0, 2, 4, u64::MAX] {
        let server = Server::start(vec![lie(length)]).unwrap();
        let mut client = Client::of(server.address());
        client.post("{}");
        let head = client.until("\r\n\r\n");
        assert_eq!(header(&head, "content-length"), Some(&*length.to_string()));
        assert_eq!(client.rest(), b"abc");
    }
}

#[test]
fn raw_bytes_are_all_that_is_sent() {
    let wire = b"HTTP/1.1 200 \xff\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\xc3(";
    let server = Server::start(vec![Reply::raw(wire)]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    assert_eq!(client.rest(), wire);
}

#[test]
fn a_closed_connection_ends_without_the_end_of_the_body() {
    let reply = Reply::sse(["a", "b"]);
    let pieces = vec![
        reply.pieces[0].clone(),
        Piece::Close,
        reply.pieces[1].clone(),
    ];
    let server = Server::start(vec![reply.pieces(pieces)]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    client.until("\r\n\r\n");
    assert_eq!(client.rest(), b"9\r\ndata: a\n\n\r\n");
    assert!(server.wait_closed(0, PATIENCE), "the server has dropped it");
}

#[test]
fn a_closed_connection_is_no_reset_though_more_was_sent_than_was_read() {
    let server = Server::start(vec![Reply::wire(vec![bytes("a"), Piece::Close])]).unwrap();
    let mut client = Client::of(server.address());
    // More than is read at once, so that the system has the rest.
    client.send("GET / HTTP/1.1\r\n\r\n".repeat(2000));
    assert_eq!(client.rest(), b"a");
}

#[test]
fn a_reset_is_a_reset_before_a_reply_and_inside_one() {
    let inside = Reply::json(200, &1.into())
        .then(Piece::Reset)
        .framing(Framing::ContentLengthOf(9));
    let server = Server::start(vec![Reply::wire(vec![Piece::Reset]), inside]).unwrap();

    let mut client = Client::of(server.address());
    client.post("{}");
    assert_eq!(client.end().unwrap_err().kind(), ErrorKind::ConnectionReset);

    let mut client = Client::of(server.address());
    client.post("{}");
    client.until("\r\n\r\n1");
    assert_eq!(client.end().unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(server.wait_closed(1, PATIENCE));
}

#[test]
fn a_silent_server_sees_its_client_go() {
    for (reply, seen) in [
        (Reply::wire(vec![Piece::Hang]), ""),
        (Reply::chat("a").pieces(vec![Piece::Hang]), "\r\n\r\n"),
        (Reply::sse(["a"]).then(Piece::Hang), "a\n\n\r\n"),
        (Reply::sse(["a", "b"]).drip(LONG), "a\n\n\r\n"),
    ] {
        let server = Server::start(vec![reply, Reply::chat("next")]).unwrap();
        let mut client = Client::of(server.address());
        client.post("{}");
        client.until(seen);
        assert!(server.wait_for(1, PATIENCE));
        assert!(!server.wait_closed(0, Duration::from_millis(20)));
        // A silent connection is nobody else's.
        assert!(Client::of(server.address()).ask("{}").body.contains("next"));
        drop(client);
        assert!(server.wait_closed(0, PATIENCE));
    }
}

#[test]
fn a_silent_server_sees_its_client_go_behind_a_request_that_it_has_not_answered() {
    let server = Server::start(vec![Reply::wire(vec![Piece::Hang]), Reply::chat("a")]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    client.post(&"x".repeat(100_000));
    drop(client);
    assert!(server.wait_closed(0, PATIENCE));
    assert_eq!(server.received().len(), 1, "the second was never looked at");
}

#[test]
fn a_client_that_reads_nothing_is_seen_to_go_while_the_server_still_sends() {
    let endless = Reply::new(200).pieces(vec![Piece::Bytes(vec![b'x'; 64 * 1024 * 1024])]);
    let server = Server::start(vec![endless]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    client.until("\r\n\r\n");
    assert!(!server.wait_closed(0, Duration::from_millis(20)));
    drop(client);
    assert!(server.wait_closed(0, PATIENCE));
}

#[test]
fn a_client_that_ends_its_own_side_reads_the_whole_reply() {
    let server = Server::start(vec![Reply::chat_stream("x".repeat(100_000), 7)]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    client.0.shutdown(Shutdown::Write).unwrap();
    let answer = client.answer();
    assert_eq!(answer.events().last(), Some(&"[DONE]"));
    assert_eq!(client.rest(), b"");
}

#[test]
fn a_request_that_begins_while_a_reply_waits_is_not_lost() {
    let server = Server::start(vec![
        Reply::chat("a").then(Piece::Wait(Duration::from_millis(20))),
        Reply::chat("b"),
    ])
    .unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    client
        .0
        .write_all(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{")
        .unwrap();
    assert!(client.answer().body.contains("\"a\""));
    client.send("}");
    assert!(client.answer().body.contains("\"b\""));
    assert_eq!(server.received()[1].body, b"{}");
}
