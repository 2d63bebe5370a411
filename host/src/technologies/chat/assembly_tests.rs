//! Which pieces make which answer.

use std::sync::Mutex;

use serde_json::json;

use super::*;

/// What a stream of these pieces answers, and what was shown on the way.
fn stream(pieces: &[Value]) -> (Result<ChatAnswer, Failure>, String) {
    let shown = Mutex::new(String::new());
    let deltas = |text: &str| shown.lock().unwrap().push_str(text);
    let mut assembly = Assembly::new(1000);
    let taken = pieces
        .iter()
        .try_for_each(|piece| assembly.take(piece, "delta", &deltas));
    let answer = taken.and_then(|()| assembly.end_of_body());
    (answer, shown.into_inner().unwrap())
}

fn choice(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn fails(pieces: &[Value]) -> ChatFaultKind {
    stream(pieces).0.unwrap_err().kind
}

/// The calls of a stream whose pieces have these fragments.
fn calls(fragments: &[Value]) -> Vec<(String, String, String)> {
    let mut pieces: Vec<_> = fragments
        .iter()
        .map(|fragment| choice(json!({ "tool_calls": [fragment] })))
        .collect();
    pieces.push(finish("tool_calls"));
    let calls = stream(&pieces).0.unwrap().tool_calls;
    calls
        .into_iter()
        .map(|call| (call.id, call.name, call.arguments))
        .collect()
}

fn owned(calls: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    calls
        .iter()
        .map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into()))
        .collect()
}

#[test]
fn text_is_put_together_and_shown_as_it_comes() {
    let (answer, shown) = stream(&[
        json!({ "choices": [], "prompt_filter_results": [] }),
        choice(json!({ "role": "assistant", "content": "", "reasoning": "hm" })),
        choice(json!({ "content": "a", "reasoning_content": "hm" })),
        choice(json!({ "content": null, "reasoning": "hm" })),
        json!({ "choices": [{ "index": 1, "delta": { "content": "other" }, "finish_reason": "stop" }] }),
        choice(
            json!({ "content": [{ "type": "text", "text": "b" }, { "type": "thinking", "text": "hm" }] }),
        ),
        finish("stop"),
        choice(json!({ "content": "too late" })),
        json!({ "choices": [], "usage": { "prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5 } }),
    ]);
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), shown.as_str()), ("ab", "ab"));
    assert_eq!(answer.finish_reason, "stop");
    assert_eq!(
        answer.usage,
        Some(Usage {
            prompt_tokens: 3,
            completion_tokens: 2
        })
    );
}

#[test]
fn fragments_find_their_call_by_index() {
    let found = calls(&[
        json!({ "index": 0, "id": "c0", "type": "function", "function": { "name": "look", "arguments": "" } }),
        json!({ "index": 1, "id": "c1", "type": "function", "function": { "name": "take", "arguments": "{" } }),
        json!({ "index": 0, "function": { "arguments": "{\"a\":" } }),
        json!({ "index": 1, "function": { "arguments": "}" } }),
        json!({ "index": 0, "id": "c0", "function": { "name": "look", "arguments": "1}" } }),
    ]);
    assert_eq!(
        found,
        owned(&[("c0", "look", "{\"a\":1}"), ("c1", "take", "{}")])
    );
}

#[test]
fn another_id_begins_another_call_though_the_index_is_the_same() {
    let found = calls(&[
        json!({ "index": 0, "id": "a", "function": { "name": "look", "arguments": "{}" } }),
        json!({ "index": 0, "id": "b", "function": { "name": "look", "arguments": "{\"b\"" } }),
        json!({ "index": 0, "function": { "arguments": ":1}" } }),
    ]);
    assert_eq!(
        found,
        owned(&[("a", "look", "{}"), ("b", "look", "{\"b\":1}")])
    );
}

/// Otherwise the one would be made with what was meant for the other.
#[test]
fn another_name_begins_another_call_though_index_and_id_are_the_same() {
    let call = |name: &str, arguments: &str| json!({ "index": 0, "id": "c", "function": { "name": name, "arguments": arguments } });
    assert_eq!(
        calls(&[call("delete", ""), call("get", "{\"id\":\"a\"}")]),
        owned(&[("c", "delete", ""), ("c", "get", "{\"id\":\"a\"}")])
    );
}

#[test]
fn calls_of_an_answer_in_one_piece_are_whole() {
    let call = |id: &str, arguments: &str| json!({ "id": id, "function": { "name": "get", "arguments": arguments } });
    let message = json!({ "tool_calls": [call("c", "{}"), call("c", ""), call("", "{}")] });
    let piece = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    let mut assembly = Assembly::new(1000);
    assembly.take(&piece, "message", &|_| ()).unwrap();
    let arguments: Vec<_> = assembly.end().unwrap().tool_calls;
    let arguments: Vec<_> = arguments.iter().map(|call| &*call.arguments).collect();
    assert_eq!(arguments, ["{}", "", "{}"]);
}

#[test]
fn calls_without_index_follow_each_other() {
    let found = calls(&[
        json!({ "id": "a", "function": { "name": "look", "arguments": "{" } }),
        json!({ "function": { "arguments": "}" } }),
        json!({ "id": "b", "function": { "name": "take", "arguments": {} } }),
    ]);
    assert_eq!(found, owned(&[("a", "look", "{}"), ("b", "take", "{}")]));
    let found = calls(&[
        json!({ "function": { "name": "look", "arguments": "{}" } }),
        json!({ "function": { "name": "take", "arguments": "{" } }),
        json!({ "function": { "arguments": "}" } }),
    ]);
    assert_eq!(
        found,
        owned(&[("call_0", "look", "{}"), ("call_1", "take", "{}")])
    );
}

#[test]
fn a_stream_without_a_reason_to_end_is_cut() {
    assert_eq!(fails(&[]), ChatFaultKind::StreamCut);
    assert_eq!(
        fails(&[choice(json!({ "content": "a" }))]),
        ChatFaultKind::StreamCut
    );
    assert_eq!(
        fails(&[choice(json!({ "content": "a" })), finish("")]),
        ChatFaultKind::StreamCut
    );
}

#[test]
fn what_the_server_says_is_all_needs_a_choice_and_no_reason() {
    let mut assembly = Assembly::new(1000);
    assert_eq!(
        Assembly::new(1000).end().unwrap_err().kind,
        ChatFaultKind::NoChoices
    );
    assembly
        .take(
            &json!({ "choices": [{ "message": { "content": "a" } }] }),
            "message",
            &|_| (),
        )
        .unwrap();
    let answer = assembly.end().unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.finish_reason.as_str()),
        ("a", "unknown")
    );
}

#[test]
fn a_refusal_and_a_filter_are_no_answer() {
    let refusal = [
        choice(json!({ "refusal": "I " })),
        choice(json!({ "refusal": "won't." })),
        finish("stop"),
    ];
    let failure = stream(&refusal).0.unwrap_err();
    assert_eq!(
        (failure.kind, &*failure.words),
        (ChatFaultKind::Refusal, "I won't.")
    );
    assert_eq!(
        fails(&[choice(json!({ "content": "a" })), finish("content_filter")]),
        ChatFaultKind::ContentFilter
    );
    assert_eq!(
        fails(&[choice(json!({ "content": "a" })), finish("error")]),
        ChatFaultKind::ServerError
    );
}

#[test]
fn an_error_counts_wherever_it_stands() {
    let error = json!({ "error": { "code": 503, "message": "no" }, "choices": [] });
    assert_eq!(
        fails(std::slice::from_ref(&error)),
        ChatFaultKind::Overloaded
    );
    assert_eq!(
        fails(&[choice(json!({ "content": "a" })), finish("stop"), error]),
        ChatFaultKind::Overloaded
    );
}

#[test]
fn text_names_and_arguments_share_one_bound() {
    let text = |bytes: usize| choice(json!({ "content": "x".repeat(bytes) }));
    assert!(stream(&[text(1000), finish("stop")]).0.is_ok());
    assert_eq!(fails(&[text(1001)]), ChatFaultKind::AnswerTooLarge);
    let call = choice(
        json!({ "tool_calls": [{ "index": 0, "id": "x", "function": { "name": "y", "arguments": "z" } }] }),
    );
    assert!(stream(&[text(997), call.clone(), finish("stop")]).0.is_ok());
    assert_eq!(
        fails(&[text(998), call.clone()]),
        ChatFaultKind::AnswerTooLarge
    );
    assert_eq!(
        fails(&[choice(json!({ "refusal": "x".repeat(1001) }))]),
        ChatFaultKind::AnswerTooLarge
    );
}

#[test]
fn there_are_at_most_so_many_calls() {
    let call = |at: usize| choice(json!({ "tool_calls": [{ "index": at }] }));
    let mut pieces: Vec<_> = (0..MOST_CALLS).map(call).collect();
    pieces.push(finish("tool_calls"));
    assert_eq!(stream(&pieces).0.unwrap().tool_calls.len(), MOST_CALLS);
    pieces.insert(0, call(MOST_CALLS));
    assert_eq!(fails(&pieces), ChatFaultKind::AnswerTooLarge);
}

#[test]
fn a_reason_to_end_is_bounded_and_safe_to_show() {
    let reason = stream(&[finish(&"\u{1b}".repeat(100))])
        .0
        .unwrap()
        .finish_reason;
    assert!(reason.len() <= 64 && !reason.contains('\u{1b}'), "{reason}");
}
