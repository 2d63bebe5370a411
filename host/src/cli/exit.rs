//! The exit codes.

use std::process::ExitCode;

use wharf::{Error, Kind, Status};

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// The task is completed, or the answer was given.
    Success = 0,
    /// Anything that has no code of its own.
    Failed = 1,
    /// Bad usage, or bad input handed in.
    InvalidInput = 2,
    /// A person decides.
    NeedsHuman = 10,
    /// Stopped before it was done.
    Partial = 11,
    /// Stopped where it was asked to.
    Checkpoint = 12,
    /// A person decides about a call; then the task goes on.
    Waiting = 13,
    /// Cancelled by a signal.
    Cancelled = 130,
}

impl Exit {
    /// The end of a finished task.
    pub(super) const fn of_status(status: Status) -> Self {
        match status {
            Status::Completed => Self::Success,
            Status::NeedsHuman => Self::NeedsHuman,
            Status::Partial => Self::Partial,
        }
    }

    /// The end of a command that failed.
    pub(super) fn of_error(error: &Error) -> Self {
        match error.kind() {
            Kind::InvalidInput => Self::InvalidInput,
            _ => Self::Failed,
        }
    }

    /// Its code.
    pub(super) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
