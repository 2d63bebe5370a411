//! The project's build tool, called as `cargo xtask COMMAND`.
//!
//! One file per command (`demo`, `demo_http`, `fuzz`, `measure`, `test`, `guests`), each with one public `run`; below them the
//! pieces they share. Nothing here is part of the product, and nothing here knows a domain.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a build tool for the terminal: it reads its arguments, takes the time and prints"
)]

mod demo;
mod demo_http;
mod fuzz;
mod guests;
mod measure;
mod test;

mod host;
mod prerequisites;
mod process;
mod report;
mod sync;
mod tally;
mod workspace;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  bench [ARGS]     build everything and measure tasks, one and many at once, beside native floors
  demo [ARGS]      build everything and run `wharf demo ARGS`
  demo-http [ARGS] the same with a model: a server on this machine streams recorded answers
  fuzz [--seconds N]  feed what is read from outside with anything, 20 seconds each
  guests           build the plugins only, into target/plugins
  tau2 [ARGS]      build everything and run the tasks of tau2-bench retail; --help says how to get them
  test [--quick]   format, lints, licences, all tests; --quick leaves out licences and documentation

CONTRIBUTING.md says what each needs and where its results are.";

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        process::exit_code(&error)
    })
}

fn run() -> Result<ExitCode> {
    let words = words()?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [name @ ("bench" | "tau2"), arguments @ ..] => measure::run(name, arguments),
        ["demo", arguments @ ..] => demo::run(arguments),
        ["demo-http", arguments @ ..] => demo_http::run(arguments),
        ["fuzz", arguments @ ..] => fuzz::run(arguments),
        ["guests"] => guests::run(),
        ["test"] => test::run(test::Extent::Full),
        ["test", "--quick"] => test::run(test::Extent::Quick),
        [] | ["help" | "--help" | "-h", ..] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("there is no `cargo xtask {}`\n\n{USAGE}", words.join(" ")),
    }
}

fn words() -> Result<Vec<String>> {
    std::env::args_os()
        .skip(1)
        .map(|word| {
            word.into_string()
                .ok()
                .context("an argument is not UTF-8; spell it in UTF-8")
        })
        .collect()
}
