//! The state of a plan-execute task, as its journal folds to it. How it changes is in `transitions`.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    budgets::Spending,
    operations::{Act, Output, Performing, StepRecord},
    stop::StopReason,
};
use crate::{
    core::{
        chain::Event,
        contract::{Completed, OperationKey, Plan, Subject, Violation},
        graph::{Graph, Input},
        machine::{Checkpoint, Loop as _, ModelFailure},
        ports::{journal::Position, model::Usage},
        request::Request,
    },
    words::{digest::Digest, json::JsonText},
};

/// A plan-execute task, folded from its journal.
#[derive(Debug, Clone)]
pub struct TaskState {
    pub(super) request: Arc<Request>,
    pub(super) subject: Option<Subject>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) now: Timestamp,
    pub(super) position: Position,
    pub(super) spending: Spending,
    pub(super) answers: usize,
    /// Of the last answers of this run, those that were failures.
    pub(super) failures: u32,
    /// When the model may be asked again.
    pub(super) retry_at: Option<Timestamp>,
    pub(super) tokens: Option<Usage>,
    /// Answers that were refused since the last plan was accepted.
    pub(super) refused: Vec<RefusedAnswer>,
    pub(super) snapshot: Option<JsonText>,
    pub(super) plans: Vec<AcceptedPlan>,
    pub(super) completed: Vec<CompletedStep>,
    pub(super) changes: Vec<Change>,
    pub(super) stage: Stage,
    pub(super) in_flight: bool,
    /// The plan that the last changed environment interrupted.
    pub(super) interrupted_plan: Option<u32>,
    /// The journal head at which the working set last changed.
    pub(super) material: Digest,
    /// The checkpoints that the last record reached.
    pub(super) reached: Vec<Checkpoint>,
}

/// A plan that host and plugin accepted whole.
#[derive(Debug, Clone)]
pub struct AcceptedPlan {
    /// From 1 upwards.
    pub version: u32,
    /// The business state it was made from.
    pub snapshot: JsonText,
    /// The plan.
    pub plan: Plan,
}

/// A step whose record was verified.
#[derive(Debug, Clone)]
pub struct CompletedStep {
    /// The step and its plan's version.
    pub performing: Performing,
    /// The record.
    pub record: StepRecord,
    /// The id of its evidence.
    pub evidence_id: Digest,
}

impl CompletedStep {
    /// The step as the plugin is told of it.
    #[must_use]
    pub fn for_plugin(&self) -> Completed {
        Completed {
            step: self.performing.step.clone(),
            operation_key: self
                .record
                .operation_key
                .as_ref()
                .map(|key| key.as_str().to_owned()),
            declined: self.record.declined,
            data: self.record.data.clone(),
        }
    }
}

/// Why a plan was given up for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The plan's version.
    pub version: u32,
    /// The step at which it happened.
    pub step_id: String,
    /// `environment-changed` or `outcome-unknown`.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// The operation whose outcome is unknown.
    #[serde(skip)]
    pub operation_key: Option<OperationKey>,
}

/// An answer that was no plan, or one that host or plugin refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedAnswer {
    /// Its beginning.
    pub answer: String,
    /// All that is wrong with it.
    pub violations: Vec<Violation>,
}

/// Where a task stands. The index is that of a step in the newest plan.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    Snapshotting,
    Planning,
    Executing(usize),
    Recovering { index: usize, known_unknown: bool },
    Concluding,
    Interrupted(ModelFailure),
    Stopped(Verdict),
    Publishing(Verdict, Graph),
    Published(Verdict, Graph),
}

/// How a task ended.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) reason: StopReason,
    pub(super) details: Vec<Violation>,
    pub(super) claim: Option<Claim>,
}

/// What a completed task claims.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) result: JsonText,
    pub(super) summary: String,
    pub(super) artifacts: Vec<Output>,
}

/// What the admission remembers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AdmissionFacts {
    pub(super) subject: Subject,
}

impl TaskState {
    /// A task before its admission.
    #[must_use]
    pub fn new(request: Arc<Request>) -> Self {
        let origin = crate::core::chain::origin(request.fingerprint());
        Self {
            spending: Spending::new(request.budgets),
            request,
            subject: None,
            started_at: None,
            now: Timestamp::UNIX_EPOCH,
            position: origin,
            answers: 0,
            failures: 0,
            retry_at: None,
            tokens: None,
            refused: Vec::new(),
            snapshot: None,
            plans: Vec::new(),
            completed: Vec::new(),
            changes: Vec::new(),
            stage: Stage::Snapshotting,
            in_flight: false,
            interrupted_plan: None,
            material: origin.head,
            reached: Vec::new(),
        }
    }

    /// The record that admits a task with this subject.
    #[must_use]
    pub fn admission(request: &Request, subject: Subject) -> Event {
        Event::Admitted {
            pattern: Self::NAME.to_owned(),
            version: Self::VERSION,
            fingerprint: request.fingerprint(),
            facts: JsonText::of(&AdmissionFacts { subject }),
        }
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The subject that the plugin named at admission.
    #[must_use]
    pub const fn subject(&self) -> Option<&Subject> {
        self.subject.as_ref()
    }

    /// The newest snapshot.
    #[must_use]
    pub const fn snapshot(&self) -> Option<&JsonText> {
        self.snapshot.as_ref()
    }

    /// All accepted plans.
    #[must_use]
    pub fn plans(&self) -> &[AcceptedPlan] {
        &self.plans
    }

    /// All completed steps.
    #[must_use]
    pub fn completed(&self) -> &[CompletedStep] {
        &self.completed
    }

    /// Whether the journal says already that an operation's outcome is unknown.
    #[must_use]
    pub fn knows_unknown(&self, key: &OperationKey) -> bool {
        self.changes
            .iter()
            .any(|change| change.operation_key.as_ref() == Some(key))
    }

    /// How many model answers the journal holds.
    #[must_use]
    pub const fn answers(&self) -> usize {
        self.answers
    }

    /// How many of this run's answers, the last ones, were failures.
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The step that is being performed or looked for.
    #[must_use]
    pub fn performing(&self) -> Option<Performing> {
        let (Stage::Executing(index) | Stage::Recovering { index, .. }) = self.stage else {
            return None;
        };
        let plan = self.plans.last()?;
        Some(Performing {
            version: plan.version,
            step: plan.plan.steps.get(index)?.clone(),
        })
    }

    /// Why the task stopped, once it has.
    #[must_use]
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.verdict().map(|verdict| verdict.reason)
    }

    /// The outputs whose publication is intended or done, in the order in which they are written.
    #[must_use]
    pub fn publication(&self) -> Option<Vec<Output>> {
        let (Stage::Publishing(_, graph) | Stage::Published(_, graph)) = &self.stage else {
            return None;
        };
        let Input::Literal(literal) = graph.nodes().first()?.inputs.first()? else {
            return None;
        };
        match serde_json::from_value(literal.clone()) {
            Ok(Act::Publish(outputs)) => Some(outputs),
            _ => None,
        }
    }

    pub(super) const fn verdict(&self) -> Option<&Verdict> {
        match &self.stage {
            Stage::Stopped(verdict)
            | Stage::Publishing(verdict, _)
            | Stage::Published(verdict, _) => Some(verdict),
            _ => None,
        }
    }
}
