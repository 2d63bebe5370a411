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
                let json = serde_json::to_string(answer);
                plain(&json.map_err(|source| CliError::Json { source })?) + "\n"
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

/// The same document without a control character that some terminals obey: JSON asks for those below the space to be escaped, not
/// for these. They stand in strings alone.
fn plain(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '\u{7f}'..='\u{9f}') {
            plain += &format!("\\u{:04x}", u32::from(c));
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_obeys_a_document_and_its_meaning_stays() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}[m \u{7f}\u{80} \u{9b}31m ä✓"});
        let json = plain(&value.to_string());
        assert!(!json.contains(|c: char| c.is_control()), "{json}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&json).unwrap(),
            value
        );
    }
}
