//! Child processes: how they are started, shown, and how their failure becomes ours.

use std::ffi::OsStr;
use std::fmt;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};

/// A command that ran and failed.
#[derive(Debug)]
pub(crate) struct Failed {
    command: String,
    status: ExitStatus,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ended with {}", self.command, self.status)
    }
}

impl std::error::Error for Failed {}

/// Runs a command to its end, its output to our own.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| not_started(command))?;
    check(command, status)
}

/// An error unless the command succeeded.
pub(crate) fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Failed {
        command: line(command),
        status,
    }
    .into())
}

/// The error of a command that could not even start.
pub(crate) fn not_started(command: &Command) -> String {
    let program = command.get_program().display();
    format!("`{program}` did not start; install it, or see that it is on the PATH")
}

/// The command as one would type it in the repository's root.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A failed command's own exit code, else 1.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = error
        .downcast_ref::<Failed>()
        .and_then(|failed| failed.status.code());
    code.and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}
