//! The command line: translates arguments into calls of the library, and their answers into text, JSON and exit codes.
//!
//! Owns everything that prints, reads the environment or ends the process. Decides nothing about tasks. Results go to
//! standard output, everything else to standard error; a command that fails leaves standard output empty, because nothing
//! is written before its answer is complete.

mod args;
mod environment;
mod exit;
mod secret;
mod usage;

mod agent;
mod audit;
mod decide;
mod demo;
mod doctor;
mod gc;
mod inspect;
mod inspect_folder;
mod mcp;
mod resume;
mod run;
mod status;

mod config;
mod context;
mod demo_files;
mod drive;
mod input;
mod results;
mod way;

mod logging;
mod panics;
mod progress;
mod signals;
mod stderr;

mod answer;
mod durations;
mod error;
mod escape;
mod look;
mod model;
mod step_list;
mod summary;

use std::{
    io::{IsTerminal as _, stdout},
    process::ExitCode,
};

use wharf::Error;

use self::{
    answer::Reply,
    args::{Cli, Command, Format, PluginCommand},
    decide::Decision,
    environment::Environment,
    exit::Exit,
    look::Look,
    usage::Typed,
};

/// What every command is given besides its own arguments.
struct Session {
    environment: Environment,
    format: Format,
    stdout: Look,
    stderr: Look,
}

impl Session {
    /// Whether the answer is a text on a terminal, hence right below what a display leaves.
    fn answers_below_display(&self) -> bool {
        self.format == Format::Text && stdout().is_terminal()
    }
}

/// Runs the command that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let environment = Environment::read();
    let stderr = Look::of_stderr(&environment);
    panics::explain(stderr);
    let exit = std::panic::catch_unwind(|| match begin(environment).and_then(Reply::deliver) {
        Ok(exit) => exit,
        Err(error) => {
            error::print(&error, stderr);
            Exit::of_error(&error)
        }
    });
    // A panic has been explained where it happened.
    exit.unwrap_or(Exit::Failed).into()
}

fn begin(environment: Environment) -> Result<Reply, Error> {
    let stdout = Look::of_stdout(&environment);
    let stderr = Look::of_stderr(&environment);
    let cli = match usage::read(&environment)? {
        Typed::Command(cli) => cli,
        Typed::Help(text) => return Ok(Reply::help(&text, stdout)),
    };
    let Cli { format, command } = *cli;
    logging::start(environment.log_filter.as_deref(), stderr)?;
    let session = Session {
        environment,
        format,
        stdout,
        stderr,
    };
    match command {
        Command::Demo(arguments) => demo::run(&session, &arguments),
        Command::Run(arguments) => run::run(&session, &arguments),
        Command::Resume(arguments) => resume::run(&session, &arguments),
        Command::Agent(arguments) => agent::run(&session, &arguments),
        Command::Approve(arguments) => decide::run(&session, &arguments, Decision::Approve),
        Command::Deny(arguments) => decide::run(&session, &arguments, Decision::Deny),
        Command::Status(arguments) => status::run(&session, &arguments),
        Command::Audit(arguments) => audit::run(&session, &arguments),
        Command::Doctor(arguments) => doctor::run(&session, &arguments),
        Command::Mcp(arguments) => mcp::run(&session, &arguments),
        Command::Gc(arguments) => gc::run(&session, &arguments),
        Command::Plugin {
            command: PluginCommand::Inspect(arguments),
        } => inspect::run(&session, &arguments),
    }
}
