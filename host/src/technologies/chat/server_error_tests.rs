//! What is read from the errors of servers, in the forms that they document.

use super::*;

#[track_caller]
fn check(status: u16, body: &str, kind: ChatFaultKind, words: &str) {
    let failure = ServerError::read(status, body.as_bytes()).into_failure();
    assert_eq!((failure.kind, &*failure.words), (kind, words), "{body}");
    assert_eq!(failure.status, Some(status));
}

#[test]
fn each_form_of_an_error_says_its_words() {
    for (body, words) in [
        (
            r#"{"error":{"message":"no","type":"t","param":null,"code":null}}"#,
            "no",
        ),
        (r#"{"error":"no"}"#, "no"),
        (
            r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#,
            "no",
        ),
        (r#"{"object":"error","message":"no","code":40001}"#, "no"),
        (r#"{"detail":"no"}"#, "no"),
        (
            r#"{"detail":[{"loc":["body","n",0],"msg":"no"},{"msg":"never"}]}"#,
            "body.n.0: no; : never",
        ),
        (
            r#"{"error":{"message":"Provider returned error","metadata":{"raw":"no"}}}"#,
            "Provider returned error: no",
        ),
        (r#"{"whatever":1}"#, r#"{"whatever":1}"#),
        ("  no\n", "no"),
        ("", ""),
        ("<html><head><title> no </title></head></html>", "no"),
        ("<html>no", "a page of HTML"),
    ] {
        check(400, body, ChatFaultKind::BadRequest, words);
    }
    let failure = ServerError::read(500, b"\xff no").into_failure();
    assert_eq!(failure.words, "\u{fffd} no");
    let failure = ServerError::read(500, "ä".repeat(MOST_WORDS).as_bytes()).into_failure();
    assert_eq!(failure.words.len(), MOST_WORDS);
}

#[test]
fn a_status_says_what_sort_of_failure_it_is() {
    for (status, kind) in [
        (400, ChatFaultKind::BadRequest),
        (401, ChatFaultKind::Unauthorized),
        (402, ChatFaultKind::Quota),
        (403, ChatFaultKind::Forbidden),
        (404, ChatFaultKind::NotFound),
        (407, ChatFaultKind::Proxy),
        (408, ChatFaultKind::RequestTimeout),
        (413, ChatFaultKind::BadRequest),
        (422, ChatFaultKind::BadRequest),
        (429, ChatFaultKind::RateLimited),
        (500, ChatFaultKind::ServerError),
        (502, ChatFaultKind::ServerError),
        (503, ChatFaultKind::Overloaded),
        (504, ChatFaultKind::ServerError),
        (529, ChatFaultKind::Overloaded),
        (599, ChatFaultKind::ServerError),
    ] {
        check(status, "no", kind, "no");
    }
}

#[test]
fn what_is_used_up_is_no_limit_of_the_rate() {
    for body in [
        r#"{"error":{"message":"no","code":"insufficient_quota"}}"#,
        r#"{"error":{"message":"no","type":"insufficient_quota"}}"#,
    ] {
        check(429, body, ChatFaultKind::Quota, "no");
    }
    check(
        429,
        r#"{"error":{"message":"no","code":"rate_limit_exceeded"}}"#,
        ChatFaultKind::RateLimited,
        "no",
    );
}

#[test]
fn an_error_inside_of_an_answer_goes_by_its_code() {
    use ChatFaultKind as K;
    for (piece, status, kind) in [
        (
            r#"{"error":{"message":"no","code":429}}"#,
            Some(429),
            K::RateLimited,
        ),
        (
            r#"{"error":{"message":"no","code":502},"choices":[]}"#,
            Some(502),
            K::ServerError,
        ),
        (
            r#"{"error":{"message":"no","code":"rate_limit_exceeded"}}"#,
            None,
            K::RateLimited,
        ),
        (
            r#"{"error":{"message":"no","type":"overloaded_error"}}"#,
            None,
            K::Overloaded,
        ),
        (
            r#"{"error":{"message":"no","code":"insufficient_quota"}}"#,
            None,
            K::Quota,
        ),
        (
            r#"{"error":{"message":"no","code":"content_filter"}}"#,
            None,
            K::ContentFilter,
        ),
        (
            r#"{"error":{"message":"no","type":"invalid_request_error"}}"#,
            None,
            K::BadRequest,
        ),
        (
            r#"{"error":{"message":"no","type":"server_error","code":1}}"#,
            None,
            K::ServerError,
        ),
        (r#"{"error":"no"}"#, None, K::ServerError),
        (
            r#"{"object":"error","message":"no","code":400}"#,
            Some(400),
            K::BadRequest,
        ),
    ] {
        let piece = serde_json::from_str(piece).unwrap();
        let failure = ServerError::in_answer(&piece).unwrap().into_failure();
        assert_eq!(
            (failure.status, failure.kind, &*failure.words),
            (status, kind, "no"),
            "{piece}"
        );
    }
    for piece in [
        r#"{"error":null,"choices":[]}"#,
        r#"{"choices":[],"message":"no"}"#,
        "3",
    ] {
        let piece = serde_json::from_str(piece).unwrap();
        assert_eq!(ServerError::in_answer(&piece), None);
    }
}

#[test]
fn an_error_names_what_stands_in_its_words_and_its_fields() {
    for body in [
        r#"{"error":{"message":"Response_Format is not supported"}}"#,
        r#"{"error":{"message":"no","param":"response_format"}}"#,
        r#"{"detail":[{"loc":["body","response_format"],"msg":"no","input":{}}]}"#,
        "response_format",
    ] {
        assert!(
            ServerError::read(400, body.as_bytes()).names(&["response_format"]),
            "{body}"
        );
    }
    // What was sent is repeated, and not what is wrong with it.
    let body = r#"{"detail":[{"loc":["body","model"],"msg":"no","input":{"response_format":1}}]}"#;
    assert!(!ServerError::read(422, body.as_bytes()).names(&["response_format"]));
}
