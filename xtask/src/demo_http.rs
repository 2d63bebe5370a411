//! `cargo xtask demo-http ARGS`: the demo with a model behind HTTP, on this machine and without a key.
//!
//! The model's answers stand in a file beside a plugin's demo; a real server streams them, and `wharf` knows no difference.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, Result};

use crate::guests::Guest;
use crate::{demo, host, process};

/// The model's answers to the default scenario, in the folder of a demo.
const ANSWERS: &str = "answers.jsonl";

/// Builds everything, starts the server, and runs `wharf demo --planner model ARGS` against it.
pub(crate) fn run(arguments: &[&str]) -> Result<ExitCode> {
    let plugins = demo::prepare()?;
    let answers = plugins.iter().find_map(answers).with_context(|| {
        format!("no plugin has a `demo/{ANSWERS}`; write one answer of a model on each line")
    })?;
    let (server, address) = Server::start(&answers)?;

    let mut demo = demo::demo(arguments);
    demo.args(["--planner", "model"])
        .env("WHARF__PROVIDERS__DEMO_SERVER__BASE_URL", &address)
        .env("WHARF__PROVIDERS__DEMO_SERVER__MODEL", "recorded")
        .env("WHARF__DEFAULTS__PROVIDER", "demo_server");
    eprintln!(
        "server   {address}, with the answers of {}",
        answers.display()
    );
    eprintln!("running  {}\n", process::line(&demo));
    let status = demo.status().with_context(|| process::not_started(&demo))?;
    drop(server);
    Ok(ExitCode::from(
        status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1),
    ))
}

fn answers(guest: &Guest) -> Option<PathBuf> {
    let file = guest.component.with_extension("demo").join(ANSWERS);
    file.is_file().then_some(file)
}

/// The server's process, which ends with this value.
struct Server(Child);

impl Server {
    /// Starts it, and waits until it says where it listens.
    fn start(answers: &PathBuf) -> Result<(Self, String)> {
        let mut command = Command::new(host::program("model-server"));
        // As fast as some models are: so that the progress is seen.
        command
            .args(["--stream-delay-ms", "25", "--answers"])
            .arg(answers);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| process::not_started(&command))?;
        let stdout = child.stdout.take();
        let server = Self(child);
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let address = line.trim_end().strip_prefix("listening on ");
        let address = address.with_context(|| {
            format!("`{}` did not say where it listens", process::line(&command))
        })?;
        Ok((server, address.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
