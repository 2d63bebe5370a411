//! Correct replies: their order, their bytes, and what becomes of the connection.

use std::{
    net::{Shutdown, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use model_server::{Chat, Framing, Piece, Reply, Server};
use serde_json::{Value, json};

use crate::client::{Client, PATIENCE};

fn bytes(text: &str) -> Piece {
    Piece::Bytes(text.into())
}

/// Everything that is sent for one request whose client then sends no more.
fn wire(reply: Reply, request: &str) -> String {
    let server = Server::start(vec![reply]).unwrap();
    let mut client = Client::of(server.address());
    client.send(request);
    client.0.shutdown(Shutdown::Write).unwrap();
    String::from_utf8(client.rest()).unwrap()
}

const GET: &str = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

#[test]
fn replies_are_given_in_order_over_any_connections_and_then_there_is_an_error() {
    let server = Server::start(vec![Reply::chat("a"), Reply::chat("b")]).unwrap();
    server.push(Reply::chat("c"));
    let mut one = Client::of(server.address());
    let mut other = Client::of(server.address());
    let text = |client: &mut Client<TcpStream>| {
        let answer = client.ask("{}").json();
        answer["choices"][0]["message"]["content"].clone()
    };
    assert_eq!(text(&mut one), "a");
    assert_eq!(text(&mut other), "b");
    assert_eq!(text(&mut one), "c");
    let last = other.ask("{}");
    assert_eq!(last.status(), 500);
    assert_eq!(last.json()["error"]["message"], "no more replies");
    server.push(Reply::chat("d"));
    assert_eq!(text(&mut other), "d");
    assert_eq!(server.received().len(), 5);
    assert_eq!(server.connections(), 2);
}

#[test]
fn requests_that_come_at_once_are_answered_one_after_the_other() {
    let slow = Reply::chat("a").then(Piece::Wait(Duration::from_millis(30)));
    let server = Server::start(vec![slow, Reply::chat("b")]).unwrap();
    let mut client = Client::of(server.address());
    let request = "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
    client.send(request.repeat(2));
    assert!(client.answer().body.contains("\"a\""));
    assert!(client.answer().body.contains("\"b\""));
}

#[test]
fn each_framing_is_exact() {
    let reply = |framing| {
        let pieces = vec![bytes("ab"), bytes(""), bytes("c")];
        Reply::new(200).framing(framing).pieces(pieces)
    };
    let sent = |framing| wire(reply(framing), GET);
    assert_eq!(
        sent(Framing::ContentLength),
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
    );
    assert_eq!(
        sent(Framing::ContentLengthOf(7)),
        "HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\nabc"
    );
    assert_eq!(
        sent(Framing::Chunked),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    );
    assert_eq!(
        sent(Framing::UntilClose),
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc"
    );
    assert_eq!(sent(Framing::Wire), "abc");
}

#[test]
fn headers_are_those_of_the_reply_and_none_comes_twice() {
    let reply = Reply::json(429, &json!(1))
        .header("Content-Type", "text/html")
        .header("retry-after", "3")
        .header("Content-Length", "1")
        .header("x-gone", "1")
        .without_header("X-GONE");
    assert_eq!(
        wire(reply, GET),
        "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/html\r\nretry-after: 3\r\nContent-Length: 1\r\n\r\n1"
    );
    let mut reply = Reply::new(299);
    reply.reason = "Fine".into();
    assert_eq!(
        wire(reply, GET),
        "HTTP/1.1 299 Fine\r\ncontent-length: 0\r\n\r\n"
    );
}

#[test]
fn a_reply_without_a_body_by_the_standard_has_none() {
    assert_eq!(
        wire(Reply::new(204), GET),
        "HTTP/1.1 204 No Content\r\n\r\n"
    );
    assert_eq!(
        wire(Reply::json(200, &json!(1)), "HEAD / HTTP/1.1\r\n\r\n"),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n"
    );
    assert_eq!(
        wire(Reply::sse(["a"]), "HEAD / HTTP/1.1\r\n\r\n"),
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    );
}

#[test]
fn the_connection_ends_where_one_side_says_so() {
    for (reply, request) in [
        (
            Reply::chat("a"),
            "GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n",
        ),
        (Reply::chat("a"), "GET / HTTP/1.0\r\n\r\n"),
        (Reply::chat("a").header("connection", "close"), GET),
        (Reply::chat("a").framing(Framing::UntilClose), GET),
    ] {
        let server = Server::start(vec![reply]).unwrap();
        let mut client = Client::of(server.address());
        client.send(request);
        let sent = String::from_utf8(client.rest()).unwrap();
        assert_eq!(sent.matches("connection: close\r\n").count(), 1, "{sent}");
        assert!(
            !server.wait_closed(0, Duration::ZERO),
            "the client has not ended it"
        );
        drop(client);
        assert!(server.wait_closed(0, PATIENCE));
    }
    let server = Server::start(vec![Reply::chat("a"), Reply::chat("b")]).unwrap();
    let mut client = Client::of(server.address());
    for _ in 0..2 {
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(client.answer().status(), 200);
    }
}

#[test]
fn events_are_chunks_and_nothing_is_added_to_them() {
    let server =
        Server::start(vec![Reply::sse(["{}", "a\nb", "[DONE]"]), Reply::chat("")]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    let head = client.until("\r\n\r\n");
    assert!(
        head.contains("content-type: text/event-stream\r\n"),
        "{head}"
    );
    let expected: [&[u8]; 3] = [
        b"data: {}\n\n",
        b"data: a\ndata: b\n\n",
        b"data: [DONE]\n\n",
    ];
    assert_eq!(client.chunks(), expected);
    assert_eq!(client.ask("{}").status(), 200);
}

#[test]
fn pieces_are_cut_in_the_middle_of_a_character() {
    let reply = Reply::new(200)
        .framing(Framing::Chunked)
        .pieces(vec![bytes("äb")]);
    let server = Server::start(vec![reply.cut(1)]).unwrap();
    let mut client = Client::of(server.address());
    client.post("{}");
    client.until("\r\n\r\n");
    assert_eq!(client.chunks(), [vec![0xc3], vec![0xa4], vec![b'b']]);
}

#[test]
fn a_dripped_reply_takes_its_time() {
    let delay = Duration::from_millis(40);
    let server = Server::start(vec![Reply::sse(["a", "b", "c"]).drip(delay)]).unwrap();
    let mut client = Client::of(server.address());
    let begun = Instant::now();
    client.post("{}");
    client.until("b\n\n\r\n");
    assert!(begun.elapsed() >= delay, "{:?}", begun.elapsed());
    client.until("c\n\n\r\n0\r\n\r\n");
    assert!(begun.elapsed() >= 2 * delay, "{:?}", begun.elapsed());
}

#[test]
fn a_completion_has_the_documented_form() {
    let chat = Chat::new("Hä?").model("m").finish_reason("length");
    let server = Server::start(vec![chat.reply(), chat.usage(None).reply()]).unwrap();
    let mut client = Client::of(server.address());
    let mut expected = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "m",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": "Hä?", "refusal": null },
            "logprobs": null,
            "finish_reason": "length",
        }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21 },
    });
    assert_eq!(client.ask("{}").json(), expected);
    expected.as_object_mut().unwrap().remove("usage");
    assert_eq!(client.ask("{}").json(), expected);
}

#[test]
fn a_streamed_completion_has_the_documented_form() {
    let usage = json!({ "total_tokens": 3 });
    let chat = Chat::new("aäb").usage(Some(usage.clone()));
    let server = Server::start(vec![
        chat.stream(2),
        chat.clone()
            .usage(None)
            .finish_reason(Value::Null)
            .stream(0),
        Reply::chat_stream("abc", 3),
    ])
    .unwrap();
    let mut client = Client::of(server.address());

    let answer = client.ask("{}");
    let (done, events) = answer
        .events()
        .split_last()
        .map(|(a, b)| (*a, b.to_vec()))
        .unwrap();
    assert_eq!(done, "[DONE]");
    let events: Vec<Value> = events
        .iter()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let frame = |choices: Value, usage: &Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_750_000_000,
            "model": "test-model", "choices": choices, "usage": usage,
        })
    };
    let choice = |delta: Value, reason: Value| {
        let choice =
            json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]);
        frame(choice, &Value::Null)
    };
    assert_eq!(
        events,
        [
            choice(json!({ "role": "assistant", "content": "" }), Value::Null),
            choice(json!({ "content": "aä" }), Value::Null),
            choice(json!({ "content": "b" }), Value::Null),
            choice(json!({}), "stop".into()),
            frame(json!([]), &usage),
        ]
    );

    let answer = client.ask("{}");
    assert_eq!(answer.events().len(), 1 + 3 + 1 + 1);
    assert!(!answer.body.contains("usage") && !answer.body.contains("stop"));

    let answer = client.ask("{}");
    assert_eq!(answer.events().len(), 1 + 1 + 1 + 1 + 1);
    assert!(answer.body.contains("\"content\":\"abc\""));
}

#[test]
fn a_reply_may_be_made_from_its_request() {
    let echo = Reply::from_request(Arc::new(|request| {
        Reply::json(
            200,
            &json!({ "asked": request.json()["model"], "of": request.target }),
        )
    }));
    let server = Server::start(vec![echo.clone(), echo]).unwrap();
    let mut client = Client::of(server.address());
    for model in ["m", "n"] {
        let answer = client.ask(&json!({ "model": model }).to_string());
        assert_eq!(
            answer.json(),
            json!({ "asked": model, "of": "/v1/chat/completions" })
        );
    }
}

#[test]
fn a_list_of_models_uses_up_no_reply_once_it_is_set() {
    let server = Server::start(vec![Reply::json(404, &json!({})), Reply::chat("a")]).unwrap();
    let mut client = Client::of(server.address());
    let request = "GET /v1/models?limit=9 HTTP/1.1\r\nhost: x\r\n\r\n";
    client.send(request);
    assert_eq!(client.answer().status(), 404);
    server.models(["m", "n"]);
    client.send(request);
    let list = client.answer().json();
    assert_eq!(list["object"], "list");
    let ids: Vec<_> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, ["m", "n"]);
    assert!(client.ask("{}").body.contains("\"a\""));
    assert_eq!(server.received().len(), 3);
}
