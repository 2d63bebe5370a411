//! The transitions of a plan-execute task: the one function that live runs and recoveries fold records through.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    operations::{Checked, Concluded, Outcome, Performance, Seen, output},
    plan_reader, report, stages,
    state::{
        AcceptedPlan, AdmissionFacts, Change, Claim, CompletedStep, RefusedAnswer, Stage,
        TaskState, Verdict,
    },
    stop::StopReason,
    view,
};
use crate::{
    core::{
        chain::{Event, Record},
        contract::{Plan, PlanStatus, Violation},
        graph::Graph,
        machine::{Checkpoint, IllegalTransition, Loop, ModelFailure, Next},
        ports::model::{Answer, Usage},
        view::View,
    },
    words::{digest::Digest, json::JsonText},
};

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
            Event::Finished { outputs, .. } => self.finished(outputs, sequence)?,
            Event::Decided { .. } => return Err(illegal("it waits for nobody".to_owned())),
            Event::Charged { .. } => (),
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
            Stage::Planning => {
                let graph = stages::plan(self.spending.model_calls() + 1);
                match self.retry_at {
                    Some(moment) => Next::RunAt(moment, graph),
                    None => Next::Run(graph),
                }
            }
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

    fn scope(&self) -> String {
        let request = &self.request;
        format!(
            "plan-execute:{}:{}:{}",
            request.tenant, request.principal, request.id
        )
    }

    fn material(&self) -> Digest {
        self.material
    }

    fn working_set(&self) -> Value {
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
        json!({
            "goal": self.request.goal,
            "input": self.request.input,
            "snapshot": self.snapshot,
            "plans": plans,
            "completed": completed,
            "changes": self.changes,
            "refused": self.refused,
        })
    }

    fn reached(&self) -> &[Checkpoint] {
        &self.reached
    }

    fn view(&self) -> View {
        view::of(self)
    }
}

impl TaskState {
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
            Stage::Planning => {
                if !self.spending.reserve_plan() {
                    return Err("no model attempt is left to reserve".to_owned());
                }
                self.retry_at = None;
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
        // Whoever resumes wants it tried again.
        self.failures = 0;
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
                let answer = output(outputs, stages::ANSWER_AT, sequence)?;
                self.answered(answer, outputs, sequence)?;
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

    fn answered(
        &mut self,
        answer: Answer,
        outputs: &[Value],
        sequence: u64,
    ) -> Result<(), IllegalTransition> {
        self.answers += 1;
        self.failures = match answer {
            Answer::Failed { .. } => self.failures + 1,
            _ => 0,
        };
        match answer {
            Answer::Failed {
                code,
                message,
                retryable,
                retry_after_millis,
            } => {
                self.retry_at = retry_after_millis.and_then(|millis| self.retry_after(millis));
                if self.retry_at.is_none() {
                    self.stage = Stage::Interrupted(ModelFailure {
                        code,
                        message,
                        retryable,
                    });
                }
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
                usage,
            } => {
                self.count_tokens(usage);
                let Checked { violations } = output(outputs, stages::CHECKED_AT, sequence)?;
                if !violations.is_empty() {
                    self.refuse(&text, violations);
                    return Ok(());
                }
                let plan = plan_reader::read(&text, &finish_reason).map_err(|violations| {
                    let reasons: Vec<_> = violations
                        .into_iter()
                        .map(|violation| violation.message)
                        .collect();
                    IllegalTransition {
                        sequence,
                        reason: reasons.join("; "),
                    }
                })?;
                self.accept(plan, sequence)?;
            }
        }
        Ok(())
    }

    /// When the model is asked again, if another attempt may be reserved then.
    fn retry_after(&self, millis: u64) -> Option<Timestamp> {
        let wait = SignedDuration::try_from(Duration::from_millis(millis)).ok()?;
        let moment = self.now.checked_add(wait).ok()?;
        self.may_ask_at(moment).then_some(moment)
    }

    fn may_ask_at(&self, moment: Timestamp) -> bool {
        self.started_at
            .is_some_and(|started| self.spending.admit_plan(started, moment).is_ok())
    }

    fn count_tokens(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            let sum = self.tokens.get_or_insert_default();
            sum.prompt_tokens = sum.prompt_tokens.saturating_add(usage.prompt_tokens);
            sum.completion_tokens = sum
                .completion_tokens
                .saturating_add(usage.completion_tokens);
        }
    }

    /// The model is told what is wrong with its plan, or the task stops.
    fn refuse(&mut self, text: &str, violations: Vec<Violation>) {
        /// Bytes of a refused answer that the model is shown again.
        const SHOWN: usize = 16 * 1024;
        if self.may_ask_at(self.now) && self.spending.forgive_plan() {
            self.refused.push(RefusedAnswer {
                answer: text[..text.floor_char_boundary(SHOWN)].to_owned(),
                violations,
            });
            self.material = self.position.head;
        } else {
            self.stop(StopReason::InvalidPlan, violations);
        }
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
        self.refused.clear();
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
