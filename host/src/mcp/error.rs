//! What the protocol's edge itself refuses.

use wharf::{
    Digest, Kind, TaskId,
    words::error::{Facts, Fault},
};

/// What this edge itself refuses. A fault of the protocol is none of these: the SDK answers it.
#[derive(Debug, thiserror::Error)]
pub(super) enum McpError {
    /// The arguments do not fit the tool's input schema.
    #[error("the arguments do not fit the input schema of `{tool}`")]
    Arguments {
        tool: &'static str,
        source: serde_json::Error,
    },
    /// Nobody handed in the component that a request names.
    #[error("the component that the request names is not here")]
    UnknownComponent { digest: Digest },
    /// Nothing of this task is running in this server.
    #[error("the task `{task}` is not running here")]
    NotRunning { task: TaskId },
    /// As many tasks are running as may.
    #[error("no further task is run now")]
    TooManyRuns { limit: usize },
    /// As many calls are being answered as may.
    #[error("no further call is answered now")]
    TooManyCalls { limit: usize },
    /// A run ended without saying how.
    #[error("the run broke off")]
    BrokeOff,
    /// An answer cannot be written as JSON.
    #[error("the answer cannot be written as JSON")]
    Answer { source: serde_json::Error },
    /// The client did not begin as the protocol has it.
    #[error("the client did not begin a session")]
    Handshake { why: String },
}

impl Fault for McpError {
    fn facts(&self) -> Facts {
        match self {
            Self::Arguments { .. } => Facts::new(
                "tool-arguments",
                Kind::InvalidInput,
                "correct the arguments as the input schema has them; nothing was done",
            ),
            Self::UnknownComponent { .. } => Facts::new(
                "component-unknown",
                Kind::InvalidInput,
                "start the server with `--plugin FILE.wasm`, or name the digest of a component that ran in this workspace",
            ),
            Self::NotRunning { .. } => Facts::new(
                "task-not-running",
                Kind::InvalidInput,
                "task_status tells what runs here; another server or command may be running it",
            ),
            Self::TooManyRuns { .. } => Facts::new(
                "too-many-runs",
                Kind::Limit,
                "wait until a task has ended, or cancel one with task_cancel; nothing was done",
            ),
            Self::TooManyCalls { .. } => Facts::new(
                "too-many-calls",
                Kind::Limit,
                "call it again when others have been answered; nothing was done",
            ),
            Self::BrokeOff => Facts::new(
                "run-broke-off",
                Kind::Bug,
                "go on with task_resume, and report what the server wrote to standard error",
            ),
            Self::Answer { .. } => Facts::new(
                "result-not-json",
                Kind::Bug,
                "report this; what was done stays, and task_status tells of it",
            ),
            Self::Handshake { .. } => Facts::new(
                "mcp-handshake",
                Kind::InvalidInput,
                "use a client of the Model Context Protocol, which begins with `initialize`",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::UnknownComponent { digest } => Some(format!(
                "neither a file of `--plugin` nor a component of the workspace has the digest {digest}"
            )),
            Self::NotRunning { .. } => Some("this server has no run of it".into()),
            Self::TooManyRuns { limit } | Self::TooManyCalls { limit } => {
                Some(format!("{limit} are running already"))
            }
            Self::BrokeOff => Some("it panicked; standard error tells where".into()),
            Self::Handshake { why } => Some(why.clone()),
            Self::Arguments { .. } | Self::Answer { .. } => None,
        }
    }
}
