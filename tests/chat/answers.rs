//! What is an answer, in one piece and in many.

use model_server::{Chat, Framing, Piece, Reply};
use serde_json::{Value, json};

use super::{ask, ask_for, client, finish, settings, start, text, whole};

/// These bytes as a stream of events.
fn events(bytes: impl Into<Vec<u8>>) -> Reply {
    Reply::sse(Vec::<String>::new()).pieces(vec![Piece::Bytes(bytes.into())])
}

#[test]
fn a_stream_is_shown_as_it_comes_and_counted() {
    for size in [1, 3, 1000] {
        let asked = ask_for(Reply::chat_stream("Grüße ✓ 😀", size));
        assert_eq!(asked.shown, "Grüße ✓ 😀");
        let answer = asked.answer();
        assert_eq!(
            (answer.text.as_str(), answer.finish_reason.as_str()),
            ("Grüße ✓ 😀", "stop")
        );
        let usage = answer.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (9, 12));
    }
}

#[test]
fn characters_may_be_cut_between_pieces_of_the_network() {
    for size in [1, 2, 7] {
        let asked = ask_for(Reply::chat_stream("Grüße ✓ 😀", 2).cut(size));
        assert_eq!(asked.shown, "Grüße ✓ 😀");
        assert_eq!(asked.answer().text, "Grüße ✓ 😀");
    }
}

#[test]
fn an_answer_in_one_piece_is_understood_whatever_was_asked_for() {
    for stream in [true, false] {
        for kind in [
            "application/json",
            "application/json; charset=utf-8",
            "Application/Vendor+JSON",
        ] {
            let server = start(vec![Reply::chat("whole").header("content-type", kind)]);
            let mut settings = settings(&server);
            settings.stream = stream;
            let asked = ask(&client(settings));
            assert_eq!(asked.shown, "whole");
            assert_eq!(asked.answer().text, "whole");
        }
    }
}

#[test]
fn a_stream_is_understood_though_none_was_asked_for() {
    let server = start(vec![Reply::chat_stream("parts", 2)]);
    let mut settings = settings(&server);
    settings.stream = false;
    assert_eq!(ask(&client(settings)).answer().text, "parts");
}

#[test]
fn a_response_that_does_not_say_what_it_is_is_what_was_asked_for() {
    let replies = vec![
        Reply::chat_stream("parts", 2).without_header("content-type"),
        Reply::chat("whole").without_header("content-type"),
    ];
    let server = start(replies);
    let mut settings = settings(&server);
    assert_eq!(ask(&client(settings.clone())).answer().text, "parts");
    settings.stream = false;
    assert_eq!(ask(&client(settings)).answer().text, "whole");
}

#[test]
fn events_may_have_comments_a_mark_and_any_ends_of_lines() {
    for end in ["\n", "\r", "\r\n"] {
        let lines = [
            "\u{feff}: PROCESSING",
            "",
            "event: ping",
            "data: {}",
            "",
            &format!("data:{}", text("a")),
            "",
            "data:",
            "",
            &format!("data: {}", text("b")),
            "id: 7",
            "",
            &format!("data: {}", finish("stop")),
            "",
            "data: [DONE]",
            "",
            "",
        ];
        for size in [1, 5, 1000] {
            assert_eq!(
                ask_for(events(lines.join(end)).cut(size)).answer().text,
                "ab",
                "{end:?}"
            );
        }
    }
}

#[test]
fn a_stream_may_end_with_its_body_and_without_a_last_event() {
    for framing in [Framing::Chunked, Framing::UntilClose] {
        let answer = ask_for(Reply::sse([text("a"), finish("stop")]).framing(framing)).answer();
        assert_eq!((answer.text.as_str(), answer.usage), ("a", None));
    }
    let unfinished = format!("data: {}\n\ndata: {}", text("a"), finish("stop"));
    assert_eq!(ask_for(events(unfinished)).answer().text, "a");
}

#[test]
fn an_answer_that_is_whole_does_not_suffer_from_how_its_connection_ends() {
    for end in [Piece::Close, Piece::Reset] {
        let reply = Reply::sse([text("a"), finish("stop")]).then(end);
        assert_eq!(ask_for(reply).answer().text, "a");
    }
    let server = start(vec![
        Reply::sse([text("a"), finish("stop")]).then(Piece::Hang),
    ]);
    let mut settings = settings(&server);
    settings.idle_timeout_ms = 200;
    assert_eq!(ask(&client(settings)).answer().text, "a");
}

#[test]
fn nothing_after_the_last_event_is_waited_for_or_read() {
    let after = [
        Piece::Bytes(b"data: {\"error\":{\"message\":\"late\"}}\n\ndata: \xff\n\n".to_vec()),
        Piece::Hang,
    ];
    let [late, hang] = after;
    let server = start(vec![Reply::chat_stream("a", 1).then(late).then(hang)]);
    assert_eq!(ask(&client(settings(&server))).answer().text, "a");
    assert!(server.wait_closed(0, super::PATIENCE));
}

#[test]
fn a_stream_that_says_it_is_done_needs_no_reason() {
    let answer = ask_for(Reply::sse([text("a"), "[DONE]".into()])).answer();
    assert_eq!(
        (answer.text.as_str(), answer.finish_reason.as_str()),
        ("a", "unknown")
    );
}

#[test]
fn tool_calls_are_put_together_from_fragments() {
    let fragment = |fragment: Value| {
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [fragment] }, "finish_reason": null }] }).to_string()
    };
    let asked = ask_for(Reply::sse([
        fragment(
            json!({ "index": 0, "id": "c0", "type": "function", "function": { "name": "look", "arguments": "" } }),
        ),
        fragment(json!({ "index": 0, "function": { "arguments": "{\"at\":" } })),
        fragment(
            json!({ "index": 1, "id": "c1", "type": "function", "function": { "name": "take", "arguments": "{}" } }),
        ),
        fragment(json!({ "index": 0, "function": { "arguments": "7}" } })),
        finish("tool_calls"),
        "[DONE]".into(),
    ]));
    assert_eq!(asked.shown, "");
    let answer = asked.answer();
    let calls: Vec<_> = answer
        .tool_calls
        .iter()
        .map(|call| {
            (
                call.id.as_str(),
                call.name.as_str(),
                call.arguments.as_str(),
            )
        })
        .collect();
    assert_eq!(calls, [("c0", "look", "{\"at\":7}"), ("c1", "take", "{}")]);
    assert_eq!(
        (answer.text.as_str(), answer.finish_reason.as_str()),
        ("", "tool_calls")
    );
}

#[test]
fn what_a_model_thinks_aloud_is_no_answer() {
    let thinking =
        |key: &str| json!({ "choices": [{ "index": 0, "delta": { key: "hm" } }] }).to_string();
    let asked = ask_for(Reply::sse([
        thinking("reasoning"),
        thinking("reasoning_content"),
        text("a"),
        finish("stop"),
        "[DONE]".into(),
    ]));
    assert_eq!(
        (asked.shown.clone(), asked.answer().text),
        ("a".into(), "a".into())
    );
    let message = json!({ "role": "assistant", "reasoning_content": "hm", "content": "a" });
    assert_eq!(ask_for(whole(&message, "stop")).answer().text, "a");
}

#[test]
fn an_answer_that_was_ended_early_says_so() {
    let answer = ask_for(Chat::new("half").finish_reason("length").stream(2)).answer();
    assert_eq!(
        (answer.text.as_str(), answer.finish_reason.as_str()),
        ("half", "length")
    );
    let answer = ask_for(
        Chat::new("half")
            .finish_reason("length")
            .usage(None)
            .reply(),
    )
    .answer();
    assert_eq!(
        (answer.finish_reason.as_str(), answer.usage),
        ("length", None)
    );
}

#[test]
fn a_filter_and_a_refusal_are_faults_and_not_answers() {
    for reply in [
        Chat::new("half").finish_reason("content_filter").stream(2),
        Chat::new("half").finish_reason("content_filter").reply(),
    ] {
        let fault = ask_for(reply).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            ("model-content-filter", false)
        );
    }
    let refusal = |part: &str| {
        json!({ "choices": [{ "index": 0, "delta": { "refusal": part } }] }).to_string()
    };
    for reply in [
        Reply::sse([
            refusal("I am "),
            refusal("sorry."),
            finish("stop"),
            "[DONE]".into(),
        ]),
        whole(
            &json!({ "role": "assistant", "content": null, "refusal": "I am sorry." }),
            "stop",
        ),
    ] {
        let fault = ask_for(reply).fault();
        assert_eq!((fault.code(), fault.retryable()), ("model-refusal", false));
        assert_eq!(fault.message(), "the model refuses to answer: I am sorry.");
    }
}

#[test]
fn an_answer_without_a_choice_is_none() {
    for reply in [
        Reply::json(200, &json!({ "choices": [] })),
        Reply::json(200, &json!({})),
        Reply::json(200, &json!([])),
        Reply::sse([r#"{"choices":[]}"#, "[DONE]"]),
        Reply::sse(["[DONE]"]),
    ] {
        let fault = ask_for(reply).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            ("model-no-choices", false)
        );
    }
}

#[test]
fn a_cut_answer_is_not_used() {
    let half = [text("a"), text("b")];
    let json = br#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    let long = json.len() as u64 + 10;
    for reply in [
        Reply::sse(half.clone()),
        Reply::sse(half.clone()).framing(Framing::UntilClose),
        Reply::sse(half.clone()).then(Piece::Close),
        Reply::sse(half.clone()).then(Piece::Reset),
        Reply::sse(half).framing(Framing::ContentLengthOf(100_000)),
        Reply::json(200, &json!(null))
            .pieces(vec![Piece::Bytes(json.to_vec())])
            .framing(Framing::ContentLengthOf(long)),
    ] {
        let fault = ask_for(reply).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            ("model-stream-cut", true),
            "{fault:?}"
        );
    }
}

#[test]
fn what_is_neither_json_nor_utf8_is_said() {
    for (reply, code) in [
        (events("data: {\"choices\"\n\n"), "model-not-json"),
        (
            Reply::json(200, &json!(null)).pieces(vec![Piece::Bytes(b"{".to_vec())]),
            "model-not-json",
        ),
        (
            Reply::json(200, &json!(null)).pieces(vec![]),
            "model-not-json",
        ),
        (
            events(b"data: {\"a\":\"\xff\"}\n\n".to_vec()),
            "model-not-utf8",
        ),
        (
            Reply::json(200, &json!(null)).pieces(vec![Piece::Bytes(b"\"\xc3\"".to_vec())]),
            "model-not-utf8",
        ),
    ] {
        let fault = ask_for(reply).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            (code, false),
            "{fault:?}"
        );
    }
}

#[test]
fn another_content_is_not_read() {
    for kind in [
        "text/html",
        "text/plain; charset=utf-8",
        "application/octet-stream",
        "application/jsonl",
    ] {
        let fault = ask_for(Reply::chat("a").header("content-type", kind)).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            ("model-content-type", false)
        );
        assert!(
            fault.message().contains(kind.split(';').next().unwrap()),
            "{}",
            fault.message()
        );
    }
}

#[test]
fn an_error_in_the_stream_goes_by_its_code() {
    for (error, code, retryable) in [
        (
            json!({ "message": "no", "code": 429 }),
            "model-rate-limited",
            true,
        ),
        (
            json!({ "message": "no", "code": "insufficient_quota" }),
            "model-quota",
            false,
        ),
        (
            json!({ "message": "no", "type": "overloaded_error" }),
            "model-overloaded",
            true,
        ),
        (
            json!({ "message": "no", "type": "server_error" }),
            "model-server-error",
            true,
        ),
        (json!("no"), "model-server-error", true),
        (
            json!({ "message": "no", "code": 400 }),
            "model-bad-request",
            false,
        ),
    ] {
        let event = json!({ "error": error, "choices": [] }).to_string();
        let fault = ask_for(Reply::sse([
            text("a"),
            event,
            finish("stop"),
            "[DONE]".into(),
        ]))
        .fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            (code, retryable),
            "{error}"
        );
        assert!(fault.message().ends_with(": no"), "{}", fault.message());
    }
}
