//! What a status means: its code, whether another attempt may help, and when.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model_server::Reply;
use serde_json::json;
use wharf::{Error, Kind};

use super::{ask, ask_for, client, run, settings, start};

#[test]
fn each_status_has_its_code() {
    for (status, code, retryable) in [
        (400, "model-bad-request", false),
        (401, "model-unauthorized", false),
        (402, "model-quota", false),
        (403, "model-forbidden", false),
        (404, "model-not-found", false),
        (405, "model-bad-request", false),
        (407, "model-proxy", false),
        (408, "model-request-timeout", true),
        (413, "model-bad-request", false),
        (422, "model-bad-request", false),
        (429, "model-rate-limited", true),
        (500, "model-server-error", true),
        (501, "model-server-error", false),
        (502, "model-server-error", true),
        (503, "model-overloaded", true),
        (504, "model-server-error", true),
        (529, "model-overloaded", true),
        (599, "model-server-error", false),
    ] {
        let server = start(vec![Reply::error(status, "so it is"), Reply::chat("never")]);
        let fault = ask(&client(settings(&server))).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            (code, retryable),
            "{status}"
        );
        assert_eq!((fault.status(), fault.retry_after()), (Some(status), None));
        assert!(
            fault
                .message()
                .ends_with(&format!(": status {status}: so it is")),
            "{}",
            fault.message()
        );
        assert!(!fault.hint().is_empty());
        assert_eq!(server.received().len(), 1, "a failure is not tried again");
    }
}

#[test]
fn a_fault_is_an_error_of_the_house() {
    let fault = ask_for(Reply::error(401, "who are you?")).fault();
    let hint = fault.hint();
    let error = Error::from(fault);
    assert_eq!(
        (error.code(), error.kind()),
        ("model-unauthorized", Kind::Denied)
    );
    assert_eq!(
        error.to_string(),
        "the model's server does not accept the key"
    );
    assert_eq!(
        (error.why().as_str(), &*error.hint()),
        ("status 401: who are you?", hint)
    );
}

#[test]
fn a_server_says_when_to_come_again() {
    for (name, value, wait) in [
        ("retry-after", "7", Some(7_000)),
        ("retry-after-ms", "1500", Some(1_500)),
        ("retry-after", "soon", None),
    ] {
        for status in [429, 503] {
            let fault = ask_for(Reply::error(status, "later").header(name, value)).fault();
            assert_eq!(
                fault.retry_after(),
                wait.map(Duration::from_millis),
                "{status} {value}"
            );
            assert!(fault.retryable());
        }
    }
    let date = Reply::error(429, "later")
        .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
        .header("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT");
    assert_eq!(
        ask_for(date).fault().retry_after(),
        Some(Duration::from_secs(30))
    );
}

#[test]
fn a_date_without_the_servers_own_counts_from_now() {
    let then = SystemTime::now() + Duration::from_secs(3600);
    let seconds = then.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let then = jiff::Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap();
    let then = then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let fault = ask_for(Reply::error(429, "later").header("retry-after", &then)).fault();
    let wait = fault.retry_after().unwrap();
    assert!((3000..=3600).contains(&wait.as_secs()), "{wait:?}");
}

#[test]
fn what_is_used_up_does_not_come_back_by_waiting() {
    let error = json!({ "error": { "message": "no more", "type": "insufficient_quota", "code": "insufficient_quota" } });
    let fault = ask_for(Reply::json(429, &error).header("retry-after", "1")).fault();
    assert_eq!(
        (fault.code(), fault.retryable(), fault.status()),
        ("model-quota", false, Some(429))
    );
}

#[test]
fn an_error_is_told_in_the_servers_own_words_whatever_its_form() {
    let html = Reply::new(502)
        .header("content-type", "text/html")
        .pieces(vec![model_server::Piece::Bytes(
            b"<html><title>Bad\n gateway</title>".to_vec(),
        )]);
    for (reply, words) in [
        (html, "status 502: Bad gateway"),
        (
            Reply::json(
                400,
                &json!({ "detail": [{ "loc": ["body", "n"], "msg": "too many" }] }),
            ),
            "status 400: body.n: too many",
        ),
        (
            Reply::json(400, &json!([{ "error": { "message": "in a list" } }])),
            "status 400: in a list",
        ),
        (
            Reply::json(400, &json!({ "error": { "message": "a\r\nb\u{1b}[31m" } })),
            "status 400: a b\\u{1b}[31m",
        ),
        (Reply::new(500), "status 500"),
    ] {
        let message = ask_for(reply).fault().message();
        assert!(message.ends_with(words), "{message}");
    }
}

#[test]
fn a_probe_counts_the_models_and_finds_ours() {
    let server = start(vec![]);
    server.models(["other", "test-model"]);
    let probe = run(client(settings(&server)).probe()).unwrap();
    assert_eq!((probe.models, probe.listed), (Some(2), Some(true)));
    let received = &server.received()[0];
    assert_eq!(
        (received.method.as_str(), received.target.as_str()),
        ("GET", "/v1/models")
    );
    assert_eq!(
        received.header("authorization"),
        Some(format!("Bearer {}", super::KEY).as_str())
    );
    assert!(received.body.is_empty() && received.header("content-type").is_none());
    server.models(["other"]);
    let probe = run(client(settings(&server)).probe()).unwrap();
    assert_eq!((probe.models, probe.listed), (Some(1), Some(false)));
}

#[test]
fn a_server_without_a_list_is_there_all_the_same() {
    for reply in [
        Reply::error(404, "no such path"),
        Reply::error(405, "no"),
        Reply::json(200, &json!({ "hello": 1 })),
    ] {
        let server = start(vec![reply]);
        let probe = run(client(settings(&server)).probe()).unwrap();
        assert_eq!((probe.models, probe.listed), (None, None));
    }
}

#[test]
fn a_probe_fails_as_an_attempt_does() {
    let html = Reply::chat("a").header("content-type", "text/html");
    for (reply, code) in [
        (Reply::error(401, "no"), "model-unauthorized"),
        (Reply::error(503, "no"), "model-overloaded"),
        (
            Reply::new(302).header("location", "https://login.invalid/"),
            "model-redirect",
        ),
        (html, "model-content-type"),
        (
            Reply::wire(vec![model_server::Piece::Hang]),
            "model-first-byte-timeout",
        ),
    ] {
        let server = start(vec![reply]);
        let mut settings = settings(&server);
        settings.first_byte_timeout_ms = 300;
        assert_eq!(run(client(settings).probe()).unwrap_err().code(), code);
    }
}
