//! What is run, how, and how it ended.

use std::{path::PathBuf, sync::Arc};

use crate::{
    core::{
        cancel::Cancellation,
        contract::OperationKey,
        machine::Checkpoint,
        plan_execute::stop::{Status, StopReason},
        ports::model::Model,
        progress::ProgressSink,
        request::Request,
    },
    words::id::TaskId,
};

/// The plan-execute pattern with its planner.
#[derive(Clone)]
pub struct PlanExecute {
    pub(super) planner: Planner,
}

/// Who proposes plans. Not part of a request: another run of the same task may use another.
#[derive(Clone)]
#[non_exhaustive]
pub enum Planner {
    /// No model: the shortest sequence of the plugin's tools that its validator accepts.
    Search,
    /// A model.
    Model(Arc<dyn Model>),
}

impl PlanExecute {
    /// With this planner.
    #[must_use]
    pub const fn new(planner: Planner) -> Self {
        Self { planner }
    }
}

/// A task to run.
#[derive(Clone)]
pub enum Task {
    /// Admit this one, or go on with it if it was admitted before.
    New(Box<NewTask>),
    /// Go on with a saved one.
    Saved(TaskId),
}

/// A task that may have to be admitted.
#[derive(Clone)]
pub struct NewTask {
    pub(super) request: Request,
    pub(super) component: Arc<[u8]>,
    pub(super) seed: Option<String>,
    pub(super) lose_response_of: Option<OperationKey>,
}

impl Task {
    /// A request and the bytes of the component that it names by digest.
    #[must_use]
    pub fn new(request: Request, component: impl Into<Arc<[u8]>>) -> Self {
        Self::New(Box::new(NewTask {
            request,
            component: component.into(),
            seed: None,
            lose_response_of: None,
        }))
    }

    /// Trusted SQL that fills the plugin's own tables once, in a new workspace.
    #[must_use]
    pub fn with_seed(mut self, sql: impl Into<String>) -> Self {
        if let Self::New(task) = &mut self {
            task.seed = Some(sql.into());
        }
        self
    }

    /// The fault injector: the response of this operation is lost once, after its commit. Remembered with the task.
    #[must_use]
    pub fn losing_response_of(mut self, key: OperationKey) -> Self {
        if let Self::New(task) = &mut self {
            task.lose_response_of = Some(key);
        }
        self
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &TaskId {
        match self {
            Self::New(task) => &task.request.id,
            Self::Saved(id) => id,
        }
    }
}

/// How to run it. The default runs to the end and tells nobody.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Where to stop, if anywhere.
    pub stop_after: Option<Checkpoint>,
    /// Interrupts the run.
    pub cancellation: Cancellation,
    /// Who wants to know what happens.
    pub progress: Option<ProgressSink>,
}

/// How a run ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The task is finished; the report stands in its folder.
    Finished(Finished),
    /// Stopped where it was asked to; durable, and nothing after it has begun.
    Checkpoint(Checkpoint),
    /// Cancelled; nothing has an effect any more, and the task can be resumed.
    Cancelled,
}

/// A finished task.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finished {
    /// Completed, needs-human or partial.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The text of `report.json`.
    pub report: String,
    /// The text of `report.md`.
    pub report_markdown: String,
    /// The task's folder.
    pub directory: PathBuf,
}
