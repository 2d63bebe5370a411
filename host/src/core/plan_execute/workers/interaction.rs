//! The Interaction worker: the plugin, the business transaction and the published files.

use serde_json::Value;

use super::{Ports, RecordError, records::agrees};
use crate::{
    core::{
        cancel::Halt,
        contract::{Effect, Failure, OperationKey, Step, StepAnswer, Subject, Violation},
        graph::{Node, NodeKind},
        node_values::input,
        plan_execute::{
            operations::{
                Act, Checked, Concluded, Observe, Origin, Outcome, Output, Performance, Performing,
                Seen, StepRecord, to_value,
            },
            plan_check, plan_reader,
            state::TaskState,
        },
        ports::{
            business::{LedgerRow, Performed, Read, SubjectConflict},
            model::Answer,
        },
        step_call::{StepSite, read_once},
        worker::{Moment, Worker, Yield},
    },
    words::{
        error::{Error, Facts, Fault, Kind},
        json::JsonText,
    },
};

pub(super) struct InteractionWorker {
    pub(super) ports: Ports,
}

type At<'a> = Moment<'a, TaskState>;

impl Worker<TaskState> for InteractionWorker {
    fn run(&self, node: &Node, inputs: &[&Value], at: &At<'_>) -> Result<Yield, Halt> {
        if node.kind == NodeKind::InteractionAct {
            return Ok(match input(inputs, 0)? {
                Act::Perform(performing) => to_value(&self.perform(&performing, at)?).into(),
                Act::Publish(outputs) => self.publish(&outputs, at)?.into(),
            });
        }
        Ok(match input(inputs, 0)? {
            Observe::Snapshot => to_value(&self.snapshot(at)?),
            Observe::CheckPlan => to_value(&self.check_plan(&input(inputs, 1)?, at)?),
            Observe::Outcome => self.check_outcome(&input(inputs, 1)?, at)?,
            Observe::Effect {
                performing,
                known_unknown,
            } => to_value(&self.recover(&performing, known_unknown, at)?),
            Observe::Conclude => to_value(&self.conclude(&input(inputs, 1)?, at)?),
        }
        .into())
    }

    fn settle(&self) -> Result<(), Error> {
        self.ports.business.settle()
    }
}

impl InteractionWorker {
    fn snapshot(&self, at: &At<'_>) -> Result<Seen, Error> {
        let request = at.state.request();
        let read = Read {
            plugin: request.plugin.name.clone(),
            subject: None,
        };
        let seen = read_once(&*self.ports.business, &read, |sql| {
            self.ports.domain.snapshot(request, sql)
        })?;
        Ok(match seen {
            Ok(Ok(snapshot)) => Seen::Snapshot(snapshot),
            Ok(Err(Failure::Rejected(message) | Failure::EnvironmentChanged(message))) => {
                Seen::Rejected(message)
            }
            Err(conflict) => {
                Seen::Rejected(format!("task `{}` has touched this subject", conflict.task))
            }
        })
    }

    fn check_plan(&self, answer: &Answer, at: &At<'_>) -> Result<Checked, Error> {
        let Answer::Text {
            text,
            finish_reason,
            ..
        } = answer
        else {
            return Ok(Checked {
                violations: Vec::new(),
            });
        };
        let plan = match plan_reader::read(text, finish_reason) {
            Ok(plan) => plan,
            Err(violations) => return Ok(Checked { violations }),
        };
        let snapshot = at.state.snapshot().ok_or(NoSnapshot)?;
        let violations =
            plan_check::violations(&*self.ports.domain, at.state.request(), snapshot, &plan)?;
        Ok(Checked { violations })
    }

    fn perform(&self, performing: &Performing, at: &At<'_>) -> Result<Performance, Error> {
        let request = at.state.request();
        let step = &performing.step;
        self.ports
            .permission
            .check(request.acting(), Some(&step.tool))?;
        let subject = at.state.subject().ok_or(NoSnapshot)?;
        let effect = self
            .ports
            .domain
            .descriptor()
            .tool(&step.tool)
            .map_or(Effect::Read, |tool| tool.effect);
        let outcome = match self.key(step, at)? {
            Some(key) => self.perform_keyed(step, subject, key, effect, at)?,
            None => self.perform_read(step, subject, at)?,
        };
        Ok(Performance {
            correlation: at.intent.sequence,
            outcome: Some(outcome),
        })
    }

    fn perform_keyed(
        &self,
        step: &Step,
        subject: &Subject,
        key: OperationKey,
        effect: Effect,
        at: &At<'_>,
    ) -> Result<Outcome, Error> {
        let performed = self.site(subject, at).perform(step, key.clone(), effect)?;
        Ok(match performed {
            Performed::Done { .. } if self.loses_response_of(&key, at) => lost(key),
            Performed::Done { row, replayed } => {
                Outcome::Recorded(record(*row, replayed, step, at))
            }
            Performed::Declined(data) => declined(Some(key), data),
            Performed::Failed(failure) => failed(failure),
            Performed::SubjectConflict(conflict) => conflicting(conflict),
        })
    }

    fn perform_read(&self, step: &Step, subject: &Subject, at: &At<'_>) -> Result<Outcome, Error> {
        let answer = self.site(subject, at).read(step)?;
        Ok(match answer {
            Ok(Ok(StepAnswer::Done { data, .. })) => Outcome::Recorded(StepRecord {
                operation_key: None,
                data,
                replayed: false,
                declined: false,
                origin: None,
            }),
            Ok(Ok(StepAnswer::Declined(data))) => declined(None, data),
            Ok(Err(failure)) => failed(failure),
            Err(conflict) => conflicting(conflict),
        })
    }

    /// The correlation must be this call's, and a keyed record must stand in the ledger as it stands here.
    fn check_outcome(&self, performance: &Performance, at: &At<'_>) -> Result<Value, Error> {
        let (expected, found) = (at.intent.sequence, performance.correlation);
        if expected != found {
            return Err(RecordError::Correlation { expected, found }.into());
        }
        if let Some(Outcome::Recorded(record)) = performance.outcome.as_ref()
            && let (Some(key), Some(subject), false) =
                (&record.operation_key, at.state.subject(), record.declined)
        {
            let request = at.state.request();
            let row = self
                .ports
                .business
                .find(&request.plugin.name, subject, key)?;
            agrees(key, row.as_ref(), record, request)?;
        }
        Ok(Value::Null)
    }

    /// Only the task's own row is adopted; another task's is met by performing the step, under a reservation of its own.
    fn recover(
        &self,
        performing: &Performing,
        known_unknown: bool,
        at: &At<'_>,
    ) -> Result<Performance, Error> {
        let request = at.state.request();
        let found = match (self.key(&performing.step, at)?, at.state.subject()) {
            (Some(key), Some(subject)) => self
                .ports
                .business
                .find(&request.plugin.name, subject, &key)?
                .filter(|row| row.task == request.id),
            _ => None,
        };
        let outcome = found.map(|row| match row.key.clone() {
            key if !known_unknown && self.loses_response_of(&key, at) => lost(key),
            _ => Outcome::Recorded(record(row, true, &performing.step, at)),
        });
        Ok(Performance {
            correlation: at.intent.sequence,
            outcome,
        })
    }

    fn conclude(&self, seen: &Seen, at: &At<'_>) -> Result<Concluded, Error> {
        let snapshot = match seen {
            Seen::Snapshot(snapshot) => snapshot,
            Seen::Rejected(message) => {
                let violation = Violation {
                    code: "snapshot-rejected".to_owned(),
                    message: message.clone(),
                    step_id: None,
                };
                return Ok(Concluded::Refused {
                    violations: vec![violation],
                });
            }
        };
        let completed: Vec<_> = at
            .state
            .completed()
            .iter()
            .map(|step| step.for_plugin())
            .collect();
        Ok(
            match self
                .ports
                .domain
                .conclude(at.state.request(), snapshot, &completed)?
            {
                Ok(conclusion) => conclusion.into(),
                Err(violations) => Concluded::Refused { violations },
            },
        )
    }

    fn publish(&self, outputs: &[Output], at: &At<'_>) -> Result<Value, Error> {
        let files: Result<Vec<_>, _> = outputs.iter().map(Output::file).collect();
        self.ports
            .archive
            .publish(&at.state.request().id, &files.map_err(NotBase64)?)?;
        Ok(Value::Null)
    }

    fn key(&self, step: &Step, at: &At<'_>) -> Result<Option<OperationKey>, Error> {
        self.ports
            .domain
            .operation_key(at.state.request(), &step.tool, step.arguments.as_ref())
    }

    /// Used up only by the journaled outcome, so that a crash in between does not lose the fault.
    fn loses_response_of(&self, key: &OperationKey, at: &At<'_>) -> bool {
        self.ports.lose_response_of.as_ref() == Some(key) && !at.state.knows_unknown(key)
    }

    fn site<'a>(&'a self, subject: &'a Subject, at: &'a At<'_>) -> StepSite<'a> {
        let request = at.state.request();
        StepSite {
            domain: &*self.ports.domain,
            business: &*self.ports.business,
            request,
            subject,
            task: &request.id,
            principal: &request.principal,
            intent: at.intent,
            intended_at: at.intended_at,
        }
    }
}

fn record(row: LedgerRow, replayed: bool, step: &Step, at: &At<'_>) -> StepRecord {
    let own = row.tool == step.tool && row.fingerprint == at.state.request().fingerprint();
    let origin = (!own).then_some(Origin {
        tool: row.tool,
        fingerprint: row.fingerprint,
    });
    StepRecord {
        operation_key: Some(row.key),
        data: row.data,
        replayed,
        declined: false,
        origin,
    }
}

fn declined(operation_key: Option<OperationKey>, data: JsonText) -> Outcome {
    Outcome::Recorded(StepRecord {
        operation_key,
        data,
        replayed: false,
        declined: true,
        origin: None,
    })
}

fn failed(failure: Failure) -> Outcome {
    match failure {
        Failure::EnvironmentChanged(message) => Outcome::EnvironmentChanged { message },
        Failure::Rejected(message) => Outcome::Rejected { message },
    }
}

fn conflicting(conflict: SubjectConflict) -> Outcome {
    Outcome::SubjectConflict {
        task: conflict.task,
        operation_key: conflict.key,
    }
}

fn lost(operation_key: OperationKey) -> Outcome {
    Outcome::OutcomeUnknown {
        message: "the response was lost after the commit".to_owned(),
        operation_key,
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a stage ran before the snapshot that it needs")]
struct NoSnapshot;

impl Fault for NoSnapshot {
    fn facts(&self) -> Facts {
        Facts::new(
            "stage-without-snapshot",
            Kind::Bug,
            "report this with the output of `wharf status`",
        )
    }
}

#[derive(Debug, thiserror::Error)]
#[error("an intended output is not base64")]
struct NotBase64(#[source] base64::DecodeError);

impl Fault for NotBase64 {
    fn facts(&self) -> Facts {
        Facts::new(
            "output-not-base64",
            Kind::Corrupt,
            "`wharf audit` shows what is affected; restore the workspace from a backup",
        )
    }
}
