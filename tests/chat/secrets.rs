//! No secret comes out: not in a fault, a `Debug`, a reason to end, or a log.

use std::{
    io,
    sync::{Arc, Mutex},
};

use model_server::{Chat, Piece, Reply};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;
use wharf::{
    Error,
    technologies::chat::{HeaderSetting, settings::SecretName},
};

use super::{KEY, ask, ask_for, client, finish, held, request, run, settings, start, text};

/// Pieces of the key that are long enough to be one.
const PIECES: [&str; 7] = ["Vq3", "Xr8", "Tz5", "Wn2", "Bk7", "Hm4", "xr8+tz5"];

#[track_caller]
fn shows_nothing(said: &str) {
    let said = said.to_ascii_lowercase();
    for piece in PIECES {
        assert!(
            !said.contains(&piece.to_ascii_lowercase()),
            "{piece}: {said}"
        );
    }
}

#[test]
fn a_server_that_repeats_the_key_is_not_repeated() {
    let escaped: String = KEY
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    let percent: String = KEY.bytes().map(|b| format!("%{b:02X}")).collect();
    let (half, rest) = KEY.split_at(KEY.len() / 2);
    for echo in [
        format!("Incorrect API key provided: {KEY}."),
        format!("Bearer {KEY}"),
        format!("\"{KEY}\""),
        format!("{half}\r\n{rest}"),
        format!("{half} {rest}"),
        KEY.replace('/', "\\/"),
        KEY.to_lowercase(),
        KEY.chars().map(|c| format!("{c} ")).collect(),
        escaped,
        percent,
        format!("{}{KEY}", "x".repeat(4090)),
        KEY.repeat(3000),
        json!({ "error": { "message": json!({ "key": KEY }).to_string() } }).to_string(),
    ] {
        let plain = Reply::new(401).pieces(vec![Piece::Bytes(echo.clone().into_bytes())]);
        let in_json = Reply::json(
            401,
            &json!({ "error": { "message": echo, "code": echo, "param": echo } }),
        );
        let event = json!({ "error": { "message": echo } }).to_string();
        let refusal = json!({ "choices": [{ "index": 0, "message": { "refusal": echo }, "finish_reason": "stop" }] });
        for reply in [
            plain,
            in_json,
            Reply::sse([event]),
            Reply::json(200, &refusal),
        ] {
            let fault = ask_for(reply).fault();
            let words = format!("{fault} {fault:?} {} {}", fault.message(), fault.hint());
            shows_nothing(&words);
            assert!(fault.message().len() <= 600);
            let error = Error::from(fault);
            shows_nothing(&format!("{error} {error:?} {}", error.why()));
        }
    }
}

#[test]
fn other_ways_to_repeat_the_key_lead_nowhere_either() {
    for reply in [
        Reply::chat("a").header("content-type", &format!("text/{KEY}")),
        Reply::new(307).header("location", &format!("http://vq3xr8tz5.invalid/{KEY}")),
        Reply::new(307).header(
            "location",
            &format!("http://{}@127.0.0.1:1/", KEY.replace('/', "%2F")),
        ),
    ] {
        let fault = ask_for(reply).fault();
        shows_nothing(&format!("{fault:?} {}", fault.message()));
    }
    let answer = ask_for(Chat::new("a").finish_reason(KEY).reply()).answer();
    shows_nothing(&answer.finish_reason);
}

#[test]
fn every_secret_header_is_hidden() {
    let words = format!("{} {}", held("TEAM").unwrap(), held("PROXY").unwrap());
    let server = start(vec![Reply::error(400, &words)]);
    let mut settings = settings(&server);
    let team = SecretName { env: "TEAM".into() };
    settings
        .headers
        .insert("X-Team".into(), HeaderSetting::Secret(team));
    settings.base_url = "http://model.invalid/v1".into();
    settings.proxy = Some(format!("http://{}", server.address()));
    settings.proxy_authorization_env = Some("PROXY".into());
    let client = client(settings);
    let fault = ask(&client).fault();
    assert!(
        fault.message().ends_with("status 400: *** ***"),
        "{}",
        fault.message()
    );
    let shown = format!("{client:?} {:?}", client.settings());
    for secret in [KEY, "Qx81Lp", "dXNlcjpaeTc3S3c5"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[test]
fn an_attempt_is_logged_in_one_event_without_body_and_headers() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let server = start(vec![
        Reply::sse([text("the-answer"), finish("stop"), "[DONE]".into()]),
        Reply::chat("the-answer"),
        Reply::error(401, &format!("no {KEY}")),
    ]);
    // With one dispatcher alone, tracing asks the thread that comes to an event first, which may be another test's and have none,
    // whether anybody wants it.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().finish());
    tracing::subscriber::with_default(subscriber, || {
        let client = client(settings(&server));
        for _ in 0..3 {
            let _ = run(client.complete(&request(), &|_| ()));
        }
    });
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let ours: Vec<_> = logged
        .lines()
        .filter(|line| line.contains("wharf::"))
        .collect();
    assert_eq!(ours.len(), 3, "{logged}");
    for (line, holds) in ours.iter().zip([
        &["status=200"][..],
        &["status=200", "prompt_tokens=9", "completion_tokens=12"],
        &["status=401", "fault=\"model-unauthorized\""],
    ]) {
        let always = [
            "DEBUG",
            "url=http://127.0.0.1",
            "/v1/chat/completions",
            "millis=",
            "bytes=",
        ];
        for held in holds.iter().chain(&always) {
            assert!(line.contains(held), "{held}: {line}");
        }
    }
    shows_nothing(&logged);
    for hidden in ["the-answer", "What now?", "Bearer", "authorization"] {
        assert!(!logged.contains(hidden), "{hidden}: {logged}");
    }
}
