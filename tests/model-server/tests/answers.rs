//! Answers from a file, in the library and on the command line.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use model_server::{AnswerLine, Server};
use serde_json::{Value, json};

use crate::client::{Answer, Client};

const LINES: &str = r#"
{"text": "A text of more than twelve characters.", "usage": {"total_tokens": 5}, "further": [1]}

{"text": "ä", "finishReason": "length", "usage": null}
{"text": "", "finishReason": null}
"#;

fn ask(model: &str, stream: bool, include_usage: bool) -> String {
    json!({ "model": model, "stream": stream, "stream_options": { "include_usage": include_usage } })
        .to_string()
}

/// The text of a streamed answer, why it ended, and its usage.
fn streamed(answer: &Answer) -> (Vec<String>, Vec<Value>, Vec<Value>) {
    let events = answer.events();
    let (done, events) = events.split_last().unwrap();
    assert_eq!(*done, "[DONE]");
    let events: Vec<Value> = events
        .iter()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let texts = events
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    let texts = texts
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect();
    let some = |value: &Value| Some(value.clone()).filter(|it| !it.is_null());
    let reasons = events
        .iter()
        .filter_map(|it| some(&it["choices"][0]["finish_reason"]));
    let usages = events.iter().filter_map(|it| some(&it["usage"]));
    (texts, reasons.collect(), usages.collect())
}

#[test]
fn lines_are_read_and_what_is_none_is_told_with_its_number() {
    let mut long = AnswerLine::new("A text of more than twelve characters.");
    long.usage = Some(json!({ "total_tokens": 5 }));
    let mut cut = AnswerLine::new("ä");
    cut.finish_reason = "length".into();
    let lines = AnswerLine::read_all(LINES).unwrap();
    assert_eq!(lines, [long, cut, AnswerLine::new("")]);
    assert_eq!(AnswerLine::read_all("\n \n").unwrap(), []);

    for (document, expected) in [
        ("{\"text\":\"a\"}\n[]", "line 2 is not a JSON object"),
        ("\n\n{\"text\":", "line 3 is not a JSON object"),
        ("{}", "`text` in line 1 is missing or no string"),
        ("{\"text\":1}", "`text` in line 1 is missing or no string"),
        (
            "{\"text\":\"a\",\"finishReason\":1}",
            "`finishReason` in line 1 is missing or no string",
        ),
    ] {
        let error = AnswerLine::read_all(document).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn an_answer_has_the_form_that_its_request_asks_for() {
    let line = AnswerLine::read_all(LINES).unwrap().swap_remove(0);
    let lines = vec![line; 4];
    let server = Server::start(Server::answers(&lines, Duration::ZERO)).unwrap();
    let mut client = Client::of(server.address());

    let whole = client.ask(&ask("m", false, true)).json();
    assert_eq!(whole["model"], "m");
    assert_eq!(whole["choices"][0]["message"]["content"], lines[0].text);
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert_eq!(whole["usage"], json!({ "total_tokens": 5 }));

    for include_usage in [true, false] {
        let answer = client.ask(&ask("n", true, include_usage));
        let (texts, reasons, usages) = streamed(&answer);
        assert!(answer.body.contains("\"model\":\"n\""));
        assert_eq!(
            texts,
            ["A text of mo", "re than twel", "ve character", "s."]
        );
        assert_eq!(reasons, ["stop"]);
        assert_eq!(
            usages,
            vec![json!({ "total_tokens": 5 }); usize::from(include_usage)]
        );
    }

    let refused = client.ask("no JSON");
    assert_eq!(refused.status(), 400);
    assert_eq!(refused.json()["error"]["message"], "the body is not JSON");
    assert_eq!(client.ask("{}").status(), 500, "the lines are used up");
}

#[test]
fn a_delay_comes_between_the_events_of_a_stream() {
    let lines = [AnswerLine::new("x".repeat(36))];
    let delay = Duration::from_millis(15);
    let server = Server::start(Server::answers(&lines, delay)).unwrap();
    let mut client = Client::of(server.address());
    let begun = Instant::now();
    // The role, three parts, the reason, and the end.
    assert_eq!(client.ask(&ask("m", true, false)).events().len(), 6);
    assert!(begun.elapsed() >= 5 * delay);
}

struct Running {
    child: Child,
    first_line: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_model-server"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first_line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut first_line).unwrap();
        Self { child, first_line }
    }

    fn client(&self) -> Client<std::net::TcpStream> {
        let address = self
            .first_line
            .strip_prefix("listening on http://")
            .unwrap();
        Client::of(address.strip_suffix("/v1\n").unwrap().parse().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_model-server"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(stdout.is_empty());
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn file(folder: &Path, document: &str) -> String {
    let path = folder.join("answers.jsonl");
    fs::write(&path, document).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_command_serves_its_file_until_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), LINES);
    let running = Running::start(&["--answers", &path, "--stream-delay-ms", "1"]);
    let mut client = running.client();
    client.send("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(client.answer().json()["data"][0]["id"], "recorded");
    let (texts, ..) = streamed(&client.ask(&ask("m", true, true)));
    assert_eq!(texts.concat(), "A text of more than twelve characters.");
    let answer = client.ask(&ask("m", true, true));
    let (texts, reasons, usages) = streamed(&answer);
    assert_eq!(
        (texts, reasons),
        (vec!["ä".to_owned()], vec![json!("length")])
    );
    assert!(usages.is_empty());
    assert_eq!(
        client.ask(&ask("m", false, true)).json()["choices"][0]["message"]["content"],
        ""
    );
    let last = client.ask(&ask("m", true, true));
    assert_eq!(last.status(), 500);
    assert_eq!(last.json()["error"]["message"], "no more replies");

    let port = running
        .first_line
        .trim_end_matches("/v1\n")
        .rsplit(':')
        .next()
        .unwrap();
    let (code, words) = refused(&["--answers", &path, "--port", port]);
    assert_eq!(code, Some(1));
    assert!(
        words.starts_with(&format!("model-server: port {port} cannot be had")),
        "{words}"
    );
}

#[test]
fn the_command_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let empty = file(folder.path(), "\n");
    let missing = folder.path().join("missing").to_str().unwrap().to_owned();
    for (arguments, code, words) in [
        (vec![], 2, "`--answers` is missing\n\nServes the answers"),
        (vec!["--answers"], 2, "`--answers` needs a value"),
        (
            vec!["--port", "70000"],
            2,
            "`70000` is not a number that `--port` can have",
        ),
        (vec!["--stream-delay-ms", "-1"], 2, "`-1` is not a number"),
        (vec!["x"], 2, "`x` is not an argument"),
        (
            vec!["--answers", &*missing],
            1,
            &*format!("{missing} cannot be read"),
        ),
        (vec!["--answers", &*empty], 1, &*format!("{empty} is empty")),
    ] {
        let (got, said) = refused(&arguments);
        assert_eq!(got, Some(code), "{said}");
        assert!(
            said.starts_with(&format!("model-server: {words}")),
            "{said}"
        );
    }
    let broken = file(folder.path(), "{\"text\":\"a\"}\nb");
    let (code, said) = refused(&["--answers", &broken]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("has no answers to serve: line 2 is not a JSON object"),
        "{said}"
    );
}
