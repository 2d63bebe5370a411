//! The event stream: what happens, while it happens.
//!
//! Each event of a record carries task, run and sequence, and no two carry the same. The sequence is the journal's: within a
//! run it only grows, and a resume tells nothing again. A record is told of when it is made, which is before it is durable. What
//! a kill lost has no successor but the next run's record with the same sequence, which takes its place. Deltas of a model's
//! answer are never journaled, and the plugin's calls are journaled with what followed from them; both carry the sequence of the intent they belong to.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::{metering::CallUse, view::View};
use crate::words::id::{RunId, TaskId};

/// One event of a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Progress {
    /// The task.
    pub task: TaskId,
    /// The run; a resume is another run.
    pub run: RunId,
    /// The journal sequence of the record it tells of.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub body: ProgressBody,
}

/// What happened.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ProgressBody {
    /// A record was made.
    Record {
        /// `admitted`, `resumed`, `intended`, `finished` or `charged`.
        kind: &'static str,
        /// The task after it.
        view: Box<View>,
    },
    /// A call of the plugin has ended. Carries the sequence of the intent it belongs to.
    Call {
        /// What it used.
        call: CallUse,
    },
    /// A tool of an agent tells how far it is. Never journaled.
    Tool {
        /// Its name.
        name: String,
        /// Its words.
        message: String,
    },
    /// A piece of the model's answer.
    Delta {
        /// The piece.
        text: String,
    },
}

/// Receives events. Called on the thread that runs the task: return quickly.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;
