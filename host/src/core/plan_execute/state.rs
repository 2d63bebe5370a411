//! The state of a plan-execute task and its transitions: the one function that live runs and recoveries fold records through.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    budgets::Spending,
    operations::{
        Act, Checked, Concluded, Outcome, Output, Performance, Performing, Seen, StepRecord, output,
    },
    plan_reader, report, stages,
    stop::StopReason,
    view,
};
use crate::{
    core::{
        chain::{Event, Record},
        contract::{Completed, OperationKey, Plan, PlanStatus, Subject, Violation},
        graph::{Graph, Input},
        machine::{Checkpoint, IllegalTransition, Loop, ModelFailure, Next},
        ports::{journal::Position, model::Answer},
        request::Request,
        view::View,
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
    pub(super) snapshot: Option<JsonText>,
    pub(super) plans: Vec<AcceptedPlan>,
    pub(super) completed: Vec<CompletedStep>,
    pub(super) changes: Vec<Change>,
    pub(super) stage: Stage,
    pub(super) in_flight: bool,
    /// The plan that the last changed environment interrupted.
    interrupted_plan: Option<u32>,
    /// The journal head at which the working set last changed.
    material: Digest,
    reached: Vec<Checkpoint>,
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
struct AdmissionFacts {
    subject: Subject,
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

    /// Names the task's working set.
    #[must_use]
    pub fn scope(&self) -> String {
        let request = &self.request;
        format!(
            "plan-execute:{}:{}:{}",
            request.tenant, request.principal, request.id
        )
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

    fn stop(&mut self, reason: StopReason, details: Vec<Violation>) {
        self.stage = Stage::Stopped(Verdict {
            reason,
            details,
            claim: None,
        });
    }

    fn stop_for(&mut self, reason: StopReason, message: String, step: Option<String>) {
        self.stop(
            reason,
            vec![Violation {
                code: reason.code().to_owned(),
                message,
                step_id: step,
            }],
        );
    }

    /// The stage whose Graph may be intended now.
    fn expected_graph(&self) -> Option<&'static str> {
        Some(match self.stage {
            Stage::Snapshotting => stages::SNAPSHOT,
            Stage::Planning => stages::PLAN,
            Stage::Executing(_) => stages::STEP,
            Stage::Recovering { .. } => stages::RECOVER,
            Stage::Concluding => stages::CONCLUDE,
            Stage::Stopped(_) | Stage::Publishing(..) => stages::PUBLISH,
            Stage::Interrupted(_) | Stage::Published(..) => return None,
        })
    }

    fn intended(&mut self, graph: &Graph) -> Result<(), String> {
        if self.expected_graph() != Some(graph.stage()) {
            return Err(format!("the stage `{}` cannot begin here", graph.stage()));
        }
        match &self.stage {
            Stage::Planning if !self.spending.reserve_plan() => {
                return Err("no model attempt is left to reserve".to_owned());
            }
            Stage::Executing(_) if !self.spending.reserve_action() => {
                return Err("no action is left to reserve".to_owned());
            }
            Stage::Stopped(verdict) => {
                self.stage = Stage::Publishing(verdict.clone(), graph.clone())
            }
            Stage::Publishing(_, stored) if stored != graph => {
                return Err("the publication differs from the one that was intended".to_owned());
            }
            _ => (),
        }
        self.in_flight = true;
        Ok(())
    }

    fn resumed(&mut self) {
        match &self.stage {
            Stage::Interrupted(_) => self.stage = Stage::Planning,
            Stage::Executing(index) if self.in_flight => {
                self.stage = Stage::Recovering {
                    index: *index,
                    known_unknown: false,
                }
            }
            _ => (),
        }
        self.in_flight = false;
    }

    fn finished(&mut self, outputs: &[Value], sequence: u64) -> Result<(), IllegalTransition> {
        self.in_flight = false;
        match self.stage.clone() {
            Stage::Snapshotting => match output(outputs, stages::SNAPSHOT_AT, sequence)? {
                Seen::Snapshot(snapshot) => {
                    self.snapshot = Some(snapshot);
                    self.material = self.position.head;
                    self.stage = Stage::Planning;
                }
                Seen::Rejected(message) => self.stop_for(StopReason::StepFailed, message, None),
            },
            Stage::Planning => {
                self.answers += 1;
                match output(outputs, stages::ANSWER_AT, sequence)? {
                    Answer::Failed {
                        code,
                        message,
                        retryable,
                    } => {
                        self.stage = Stage::Interrupted(ModelFailure {
                            code,
                            message,
                            retryable,
                        })
                    }
                    Answer::SearchBound { candidates } => {
                        self.stop_for(
                            StopReason::PlannerLimit,
                            format!("the search tried {candidates} plans and stopped at its bound"),
                            None,
                        );
                    }
                    Answer::Text {
                        text,
                        finish_reason,
                        ..
                    } => {
                        let Checked { violations } = output(outputs, stages::CHECKED_AT, sequence)?;
                        if violations.is_empty() {
                            let plan =
                                plan_reader::read(&text, &finish_reason).map_err(|violation| {
                                    IllegalTransition {
                                        sequence,
                                        reason: violation.message,
                                    }
                                })?;
                            self.accept(plan, sequence)?;
                        } else {
                            self.stop(StopReason::InvalidPlan, violations);
                        }
                    }
                }
            }
            Stage::Executing(index) => {
                let performance: Performance = output(outputs, stages::OUTCOME_AT, sequence)?;
                let outcome = performance.outcome.ok_or_else(|| IllegalTransition {
                    sequence,
                    reason: "a performed step has no outcome".to_owned(),
                })?;
                self.step_ended(index, outcome, sequence)?;
            }
            Stage::Recovering {
                index,
                known_unknown,
            } => {
                let performance: Performance = output(outputs, stages::RECOVERED_AT, sequence)?;
                match performance.outcome {
                    None if known_unknown => self.stage = Stage::Snapshotting,
                    None => self.stage = Stage::Executing(index),
                    Some(outcome) => {
                        self.step_ended(index, outcome, sequence)?;
                        if known_unknown {
                            self.stage = Stage::Snapshotting;
                        }
                    }
                }
            }
            Stage::Concluding => match output(outputs, stages::CONCLUDED_AT, sequence)? {
                Concluded::Fulfilled {
                    result,
                    summary,
                    artifacts,
                } => {
                    let claim = Some(Claim {
                        result,
                        summary,
                        artifacts,
                    });
                    self.stage = Stage::Stopped(Verdict {
                        reason: StopReason::Completed,
                        details: Vec::new(),
                        claim,
                    });
                }
                Concluded::Refused { violations } => {
                    self.stop(StopReason::ConclusionRefused, violations)
                }
            },
            Stage::Publishing(verdict, graph) => self.stage = Stage::Published(verdict, graph),
            Stage::Interrupted(_) | Stage::Stopped(_) | Stage::Published(..) => {
                return Err(IllegalTransition {
                    sequence,
                    reason: "no stage is in flight".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn accept(&mut self, plan: Plan, sequence: u64) -> Result<(), IllegalTransition> {
        let snapshot = self.snapshot.clone().ok_or_else(|| IllegalTransition {
            sequence,
            reason: "a plan without a snapshot".to_owned(),
        })?;
        if self.is_stall(&plan, &snapshot) {
            let message = "the environment changed, yet the same steps were proposed again for the same snapshot";
            self.stop_for(StopReason::Stalled, message.to_owned(), None);
            return Ok(());
        }
        let version = u32::try_from(self.plans.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        self.interrupted_plan = None;
        self.stage = if plan.steps.is_empty() {
            Stage::Concluding
        } else {
            Stage::Executing(0)
        };
        if plan.status == PlanStatus::NeedsHuman {
            self.stop_for(StopReason::NeedsHuman, plan.reason.clone(), None);
        }
        self.plans.push(AcceptedPlan {
            version,
            snapshot,
            plan,
        });
        self.reached.push(Checkpoint::Plan);
        Ok(())
    }

    /// After a changed environment: the same tools and arguments in the same order for an unchanged snapshot.
    fn is_stall(&self, plan: &Plan, snapshot: &JsonText) -> bool {
        let Some(before) = self
            .interrupted_plan
            .and_then(|version| self.plans.iter().find(|plan| plan.version == version))
        else {
            return false;
        };
        let work = |plan: &Plan| {
            plan.steps
                .iter()
                .map(|step| {
                    (
                        step.tool.clone(),
                        step.arguments.as_ref().map(JsonText::canonical),
                    )
                })
                .collect::<Vec<_>>()
        };
        work(plan) == work(&before.plan) && snapshot.canonical() == before.snapshot.canonical()
    }

    fn step_ended(
        &mut self,
        index: usize,
        outcome: Outcome,
        sequence: u64,
    ) -> Result<(), IllegalTransition> {
        let performing = self.performing().ok_or_else(|| IllegalTransition {
            sequence,
            reason: "the plan has no such step".to_owned(),
        })?;
        let step_id = performing.step.id.to_string();
        let mut changed = |code, message, operation_key| {
            self.changes.push(Change {
                version: performing.version,
                step_id: step_id.clone(),
                code,
                message,
                operation_key,
            });
            self.material = self.position.head;
        };
        match outcome {
            Outcome::Recorded(record) => {
                let evidence_id = record
                    .evidence(&performing.step.tool, self.request.fingerprint())
                    .id;
                self.completed.push(CompletedStep {
                    performing,
                    record,
                    evidence_id,
                });
                self.material = self.position.head;
                self.reached.push(Checkpoint::Step);
                let steps = self.plans.last().map_or(0, |plan| plan.plan.steps.len());
                self.stage = if index + 1 < steps {
                    Stage::Executing(index + 1)
                } else {
                    Stage::Concluding
                };
            }
            Outcome::EnvironmentChanged { message } => {
                changed("environment-changed", message, None);
                self.interrupted_plan = Some(performing.version);
                self.stage = Stage::Snapshotting;
            }
            Outcome::OutcomeUnknown {
                message,
                operation_key,
            } => {
                changed("outcome-unknown", message, Some(operation_key));
                self.stage = Stage::Recovering {
                    index,
                    known_unknown: true,
                };
            }
            Outcome::Rejected { message } => {
                self.stop_for(StopReason::StepFailed, message, Some(step_id))
            }
            Outcome::SubjectConflict {
                task,
                operation_key,
            } => {
                let message = format!(
                    "task `{task}` has performed `{}` on this subject for another input or with other arguments",
                    operation_key.as_str()
                );
                self.stop_for(StopReason::SubjectConflict, message, Some(step_id));
            }
        }
        Ok(())
    }

    /// Stops where the next reservation would not be admitted.
    fn enforce_budgets(&mut self) {
        let Some(started) = self.started_at.filter(|_| !self.in_flight) else {
            return;
        };
        let admitted = match self.stage {
            Stage::Planning => self.spending.admit_plan(started, self.now),
            Stage::Executing(_) => self.spending.admit_action(started, self.now),
            _ => Ok(()),
        };
        if let Err(reason) = admitted {
            let budgets = self.spending.budgets();
            let message = match reason {
                StopReason::MaxPlans => {
                    format!("all {} model attempts are used", budgets.max_plans)
                }
                StopReason::MaxActions => format!("all {} actions are used", budgets.max_actions),
                _ => format!(
                    "the deadline of {} seconds since admission has passed",
                    budgets.deadline_seconds
                ),
            };
            let step = self
                .performing()
                .map(|performing| performing.step.id.to_string());
            self.stop_for(reason, message, step);
        }
    }
}

impl Loop for TaskState {
    const NAME: &'static str = "plan-execute";
    const VERSION: u32 = 1;

    fn apply(&mut self, record: &Record) -> Result<(), IllegalTransition> {
        let sequence = record.position.sequence;
        let illegal = |reason: String| IllegalTransition { sequence, reason };
        self.now = record.at;
        self.position = record.position;
        self.reached.clear();
        match &record.event {
            Event::Admitted { facts, .. } => {
                let facts: AdmissionFacts = serde_json::from_str(facts.as_str())
                    .map_err(|error| illegal(error.to_string()))?;
                self.subject = Some(facts.subject);
                self.started_at = Some(record.at);
            }
            Event::Resumed { .. } => self.resumed(),
            Event::Intended { graph } => self.intended(graph).map_err(illegal)?,
            Event::Finished { outputs } => self.finished(outputs, sequence)?,
        }
        self.enforce_budgets();
        if matches!(self.stage, Stage::Stopped(_)) {
            self.reached.push(Checkpoint::Report);
        }
        Ok(())
    }

    fn next(&self) -> Next {
        match &self.stage {
            Stage::Snapshotting => Next::Run(stages::snapshot()),
            Stage::Planning => Next::Run(stages::plan(self.spending.model_calls() + 1)),
            Stage::Executing(_) => match self.performing() {
                Some(performing) => {
                    Next::Run(stages::step(self.spending.action_calls() + 1, &performing))
                }
                None => Next::Run(stages::conclude()),
            },
            Stage::Recovering { known_unknown, .. } => match self.performing() {
                Some(performing) => Next::Run(stages::recover(&performing, *known_unknown)),
                None => Next::Run(stages::conclude()),
            },
            Stage::Concluding => Next::Run(stages::conclude()),
            Stage::Interrupted(failure) => Next::Interrupted(failure.clone()),
            Stage::Stopped(verdict) => Next::Run(stages::publish(report::outputs(self, verdict))),
            Stage::Publishing(_, graph) => Next::Run(graph.clone()),
            Stage::Published(..) => Next::Done,
        }
    }

    fn working_set(&self) -> (Digest, Value) {
        let plans: Vec<_> = self
            .plans
            .iter()
            .map(|plan| json!({"version": plan.version, "plan": plan_reader::written(&plan.plan)}))
            .collect();
        let completed: Vec<_> = self
            .completed
            .iter()
            .map(|step| json!({"version": step.performing.version, "step": step.performing.step, "declined": step.record.declined, "data": step.record.data}))
            .collect();
        let set = json!({
            "goal": self.request.goal,
            "input": self.request.input,
            "snapshot": self.snapshot,
            "plans": plans,
            "completed": completed,
            "changes": self.changes,
        });
        (self.material, set)
    }

    fn reached(&self) -> &[Checkpoint] {
        &self.reached
    }

    fn view(&self) -> View {
        view::of(self)
    }
}

impl StepRecord {
    /// The evidence of this record, for a step with this tool in a request with this fingerprint.
    #[must_use]
    pub fn evidence(
        &self,
        tool: &str,
        fingerprint: Digest,
    ) -> crate::core::ports::archive::Evidence {
        let (tool, fingerprint) = self.origin.as_ref().map_or((tool, fingerprint), |origin| {
            (&*origin.tool, origin.fingerprint)
        });
        crate::core::ports::archive::Evidence::of(
            fingerprint,
            tool,
            self.operation_key.as_ref().map(OperationKey::as_str),
            &self.data,
        )
    }
}
