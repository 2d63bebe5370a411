//! What a command answers, and how it reaches standard output: whole, once, at the end.

use std::io::{self, Write as _};

use clap::builder::StyledStr;
use serde::Serialize;
use wharf::Error;

use super::{Session, args::Format, error::CliError, exit::Exit, look::Look, stderr};

/// The answer of a command: a JSON document, and a text that says the same to people.
pub(super) trait Answer: Serialize {
    /// For people; ends with a newline.
    fn text(&self, look: Look) -> String;

    /// How the process ends.
    fn exit(&self) -> Exit {
        Exit::Success
    }
}

/// What is left to print, and how the process ends.
#[derive(Debug)]
pub(super) struct Reply {
    stdout: String,
    stderr: String,
    exit: Exit,
}

impl Reply {
    /// An answer in the format that was asked for.
    pub(super) fn answer(answer: &impl Answer, session: &Session) -> Result<Self, Error> {
        let stdout = match session.format {
            Format::Text => answer.text(session.stdout),
            Format::Json => {
                serde_json::to_string(answer).map_err(|source| CliError::Json { source })? + "\n"
            }
        };
        Ok(Self {
            stdout,
            stderr: String::new(),
            exit: answer.exit(),
        })
    }

    /// A help text.
    pub(super) fn help(text: &StyledStr, look: Look) -> Self {
        let stdout = if look.colour() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        Self {
            stdout,
            stderr: String::new(),
            exit: Exit::Success,
        }
    }

    /// No answer, but a notice on standard error.
    pub(super) fn notice(stderr: String, exit: Exit) -> Self {
        Self {
            stdout: String::new(),
            stderr,
            exit,
        }
    }

    /// Prints it. A reader that has gone away is none of our business.
    pub(super) fn deliver(self) -> Result<Exit, Error> {
        stderr::write(&self.stderr);
        let mut stdout = io::stdout().lock();
        match stdout
            .write_all(self.stdout.as_bytes())
            .and_then(|()| stdout.flush())
        {
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::Stdout { source }.into())
            }
            _ => Ok(self.exit),
        }
    }
}
