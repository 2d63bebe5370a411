//! Runs the stages of a long command, each under its name and with its time, and sums them up.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::process;
use crate::tally::Tally;

/// What has been run so far.
pub(crate) struct Report {
    started: Instant,
    stages: u32,
    tally: Tally,
}

impl Report {
    /// An empty report, from now.
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            stages: 0,
            tally: Tally::default(),
        }
    }

    /// A stage that is one command. Its standard output passes through, and its tests are counted
    /// on the way.
    pub(crate) fn command(&mut self, name: &str, mut command: Command) -> Result<()> {
        println!("==> {name}: {}", process::line(&command));
        self.timed(name, |tally| pass_through(&mut command, tally))
    }

    /// A stage that is work of our own.
    pub(crate) fn work(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        self.timed(name, |_| work())
    }

    /// Prints the summary, which is the last that is printed: how the stages went, and on a line of
    /// its own, for those who read only that, the tests that ran.
    pub(crate) fn conclude(self, outcome: Result<()>) -> ExitCode {
        let code = match outcome {
            Ok(()) => {
                println!(
                    "\nall {} stages passed in {}",
                    self.stages,
                    seconds(self.started.elapsed())
                );
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!(
                    "\nFAILED after {}: {error:#}",
                    seconds(self.started.elapsed())
                );
                process::exit_code(&error)
            }
        };
        println!("{}", self.tally);
        code
    }

    fn timed(&mut self, name: &str, stage: impl FnOnce(&mut Tally) -> Result<()>) -> Result<()> {
        let started = Instant::now();
        stage(&mut self.tally).with_context(|| format!("stage `{name}`"))?;
        self.stages += 1;
        println!("<== {name}: passed in {}", seconds(started.elapsed()));
        Ok(())
    }
}

fn pass_through(command: &mut Command, tally: &mut Tally) -> Result<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| process::not_started(command))?;
    let output = child
        .stdout
        .take()
        .expect("the output was asked for as a pipe");
    copy(BufReader::new(output), io::stdout(), tally).context("could not pass the output on")?;
    process::check(command, child.wait()?)
}

/// Copies line by line. Bytes that are not UTF-8 pass through unchanged.
fn copy(mut from: impl BufRead, mut to: impl Write, tally: &mut Tally) -> io::Result<()> {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        tally.read(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    to.flush()
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
