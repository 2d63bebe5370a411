//! `model-server`: serves the answers of a file as chat completions, until it is killed.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line of the development tools, which reads its arguments and prints"
)]

use std::{env, fs, io::Write, process::ExitCode, thread, time::Duration};

use model_server::{AnswerLine, Server};

const USAGE: &str = "\
Serves the answers of a file as chat completions, one for each request, until it is killed.
It prints where it listens first. After the last answer it replies 500.

Usage: model-server --answers FILE [--stream-delay-ms N] [--port P]

  --answers FILE        JSON Lines: {\"text\": \"...\", \"finishReason\": \"stop\", \"usage\": {...}}
  --stream-delay-ms N   wait so long before each event of a stream but the first; 0 if left out
  --port P              listen on this port of 127.0.0.1; a free one if left out";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Help) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(Stop::Usage(why)) => {
            eprintln!("model-server: {why}\n\n{USAGE}");
            ExitCode::from(2)
        }
        Err(Stop::Failure(why)) => {
            eprintln!("model-server: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Why it does not serve.
enum Stop {
    Help,
    Usage(String),
    Failure(String),
}

#[derive(Default)]
struct Arguments {
    answers: Option<String>,
    stream_delay_ms: u64,
    port: u16,
}

fn arguments() -> Result<Arguments, Stop> {
    let mut arguments = Arguments::default();
    let mut words = env::args().skip(1);
    while let Some(flag) = words.next() {
        let mut value = || {
            let value = words.next();
            value.ok_or_else(|| Stop::Usage(format!("`{flag}` needs a value")))
        };
        match flag.as_str() {
            "--answers" => arguments.answers = Some(value()?),
            "--stream-delay-ms" => arguments.stream_delay_ms = number(&flag, &value()?)?,
            "--port" => arguments.port = number(&flag, &value()?)?,
            "--help" | "-h" => return Err(Stop::Help),
            _ => return Err(Stop::Usage(format!("`{flag}` is not an argument"))),
        }
    }
    Ok(arguments)
}

fn number<T: std::str::FromStr>(flag: &str, value: &str) -> Result<T, Stop> {
    let number = value.parse();
    number.map_err(|_| Stop::Usage(format!("`{value}` is not a number that `{flag}` can have")))
}

fn run() -> Result<(), Stop> {
    let arguments = arguments()?;
    let Some(path) = arguments.answers else {
        return Err(Stop::Usage("`--answers` is missing".into()));
    };
    let document = fs::read_to_string(&path).map_err(|error| {
        Stop::Failure(format!(
            "{path} cannot be read ({error}); name a file of JSON Lines"
        ))
    })?;
    let lines = AnswerLine::read_all(&document)
        .map_err(|error| Stop::Failure(format!("{path} has no answers to serve: {error}")))?;
    if lines.is_empty() {
        let why = format!("{path} is empty; write one answer a line");
        return Err(Stop::Failure(why));
    }
    let delay = Duration::from_millis(arguments.stream_delay_ms);
    let replies = Server::answers(&lines, delay);
    let server = Server::start_at(("127.0.0.1", arguments.port), replies).map_err(|error| {
        let port = arguments.port;
        Stop::Failure(format!(
            "port {port} cannot be had ({error}); leave `--port` out for a free one"
        ))
    })?;
    server.models(["recorded"]);
    println!("listening on {}", server.base_url());
    // Who waits for the line may read it through a pipe that is gone by now.
    let _ = std::io::stdout().flush();
    loop {
        thread::park();
    }
}
