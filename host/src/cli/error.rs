//! What the command line itself refuses, and how every error is shown.

use std::{io, net::SocketAddr, path::PathBuf};

use wharf::{
    Error, Kind, TaskId,
    host::ConfigError,
    words::error::{Facts, Fault},
};

use super::{escape::escaped, look::Look, stderr};

/// Shows an error on standard error.
pub(super) fn print(error: &Error, look: Look) {
    stderr::write(&render(error, look));
}

/// Three lines: what happened, why, what to do.
pub(super) fn render(error: &Error, look: Look) -> String {
    let code = look.bad(&format!("error[{}]", error.code()));
    let [what, why, fix] = [&error.to_string(), &error.why(), &*error.hint()].map(escaped);
    format!("{code}: {what}\n  why: {why}\n  fix: {fix}\n")
}

/// What the command line itself refuses.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The arguments are not what the command takes.
    #[error("{what}")]
    Usage {
        what: String,
        why: String,
        fix: String,
    },
    /// `--context` is neither `embedded` nor an address.
    #[error("invalid value for '--context'")]
    UnknownContext,
    /// The planner is a model, and the configuration does not say which.
    #[error("no model is configured")]
    NoModel { providers: Vec<String> },
    /// An agent without a model.
    #[error("an agent needs a model")]
    NoAgentModel,
    /// `--stop-after` for a task that has no such moments.
    #[error("the task `{task}` is an agent's and has no checkpoints")]
    NoCheckpoint { task: TaskId },
    /// No task waits for a decision.
    #[error("no task in {} waits for a decision", directory.display())]
    NothingWaits { directory: PathBuf },
    /// A file handed in cannot be read.
    #[error("the {what} {} cannot be read", path.display())]
    Unreadable {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A file handed in is too large.
    #[error("the {what} {} is too large", path.display())]
    TooLarge {
        what: &'static str,
        path: PathBuf,
        limit: usize,
    },
    /// A file handed in is not text.
    #[error("the {what} {} is not text in UTF-8", path.display())]
    NotText {
        what: &'static str,
        path: PathBuf,
        source: std::string::FromUtf8Error,
    },
    /// A configuration says what cannot be.
    #[error("{}: {fault}", path.display())]
    Config { path: PathBuf, fault: ConfigError },
    /// The directory for a fresh workspace holds a task.
    #[error("{} holds the task `{task}` already", directory.display())]
    DirectoryTaken { directory: PathBuf, task: TaskId },
    /// There is nothing to go on with.
    #[error("{} holds no task", directory.display())]
    NoTask { directory: PathBuf },
    /// Every task is finished.
    #[error("{} holds no unfinished task", directory.display())]
    AllFinished { directory: PathBuf, tasks: usize },
    /// No directory for the workspace.
    #[error("a new workspace cannot be made in {}", directory.display())]
    NoDirectory {
        directory: PathBuf,
        source: io::Error,
    },
    /// `WHARF_LOG` cannot be understood.
    #[error("WHARF_LOG is not a filter")]
    LogFilter {
        source: tracing_subscriber::filter::ParseError,
    },
    /// Signals or threads are not to be had.
    #[error("the run cannot be set up")]
    Setup { source: io::Error },
    /// Nobody can listen at the address.
    #[error("{address} cannot be listened at")]
    Unbound {
        address: SocketAddr,
        source: io::Error,
    },
    /// The result cannot be written as JSON.
    #[error("the result cannot be written as JSON")]
    Json { source: serde_json::Error },
    /// Standard output does not take the result.
    #[error("the result cannot be written to standard output")]
    Stdout { source: io::Error },
}

impl Fault for CliError {
    fn facts(&self) -> Facts {
        let input = |code, hint: &'static str| Facts::new(code, Kind::InvalidInput, hint);
        match self {
            Self::Usage { fix, .. } => Facts::new("usage", Kind::InvalidInput, fix.clone()),
            Self::UnknownContext => input(
                "usage",
                "leave `--context` out, or name `embedded` or redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]",
            ),
            Self::NoModel { providers } if providers.is_empty() => input(
                "no-provider",
                "write a table [providers.NAME] with `base_url` and `model` into a file and name it with `--config`, or use `--planner search`; docs/models.md has examples",
            ),
            Self::NoModel { .. } => input(
                "no-provider",
                "write `provider = \"NAME\"` under [defaults], or set WHARF__DEFAULTS__PROVIDER",
            ),
            Self::NoAgentModel => input(
                "no-agent-model",
                "give `--planner model` with a `--config` that names a provider, or `--planner script:FILE`",
            ),
            Self::NoCheckpoint { .. } => input(
                "usage",
                "leave `--stop-after` out: an agent stops at its budgets, and waits for `--ask`",
            ),
            Self::NothingWaits { .. } => input(
                "nothing-waits",
                "`wharf status` tells where each task stands",
            ),
            Self::Unreadable { .. } => input(
                "file-unreadable",
                "check the path and its permissions; nothing was written",
            ),
            Self::TooLarge { .. } => input(
                "file-too-large",
                "name the right file, or make it smaller; nothing was written",
            ),
            Self::NotText { .. } => input(
                "file-not-text",
                "name the right file, or save it as UTF-8; nothing was written",
            ),
            Self::Config { fault, .. } => fault.facts(),
            Self::DirectoryTaken { .. } => input(
                "directory-taken",
                "choose a directory that is empty or missing, or go on with `wharf resume`; nothing was written",
            ),
            Self::NoTask { .. } => input(
                "no-task",
                "start a task there first, or name the directory in which it was started",
            ),
            Self::AllFinished { .. } => input(
                "no-unfinished-task",
                "name a finished task with `--task` to see its report again",
            ),
            Self::NoDirectory { .. } => {
                input("directory-unwritable", "name a directory with `--dir`")
            }
            Self::LogFilter { .. } => input(
                "log-filter",
                "unset WHARF_LOG, or set it to something like `info` or `wharf=debug`",
            ),
            Self::Setup { .. } => Facts::new(
                "setup",
                Kind::Unavailable,
                "try again when the machine has threads and file handles to give",
            ),
            Self::Unbound { .. } => Facts::new(
                "address-unavailable",
                Kind::Unavailable,
                "name another port with `--http`, or port 0 for any that is free",
            ),
            Self::Json { .. } => Facts::new(
                "result-not-json",
                Kind::Bug,
                "use `--format text`, and report this",
            ),
            Self::Stdout { .. } => Facts::new(
                "stdout-unwritable",
                Kind::Unavailable,
                "make room where the output goes, and ask again with `wharf resume` or `wharf status`",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Usage { why, .. } => Some(why.clone()),
            Self::UnknownContext => {
                Some("it is neither `embedded` nor a `redis://` address".into())
            }
            Self::NoModel { providers } if providers.is_empty() => {
                Some("the configuration has no provider".into())
            }
            Self::NoModel { providers } => Some(format!(
                "it has several providers, and none is the default: {}",
                providers.join(", ")
            )),
            Self::NoCheckpoint { .. } => {
                Some("only a plan-execute task stops behind its plan, a step or its report".into())
            }
            Self::NoAgentModel => Some("a search proposes plans, and answers no questions".into()),
            Self::Config { fault, .. } => fault.why(),
            Self::TooLarge { limit, .. } => Some(format!("{limit} bytes are allowed")),
            Self::DirectoryTaken { .. } => Some("each demo wants a fresh workspace".into()),
            Self::NoTask { .. } => Some("none was admitted".into()),
            Self::AllFinished { tasks, .. } => Some(format!("all {tasks} are finished")),
            // Its own causes say the same again.
            Self::LogFilter { source } => Some(source.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_three_lines_whatever_stands_in_it() {
        let error = Error::from(CliError::Usage {
            what: "a\nb\u{1b}[31m".into(),
            why: "c\r".into(),
            fix: "d".into(),
        });
        assert_eq!(
            render(&error, Look::plain()),
            "error[usage]: a\\nb\\u{1b}[31m\n  why: c\\r\n  fix: d\n"
        );
    }

    #[test]
    fn what_was_handed_in_is_invalid_input() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::from(CliError::Unreadable {
            what: "request",
            path: "r.json".into(),
            source,
        });
        assert_eq!(
            (error.code(), error.kind()),
            ("file-unreadable", Kind::InvalidInput)
        );
    }
}
