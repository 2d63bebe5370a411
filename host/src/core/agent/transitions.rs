//! The transitions of an agent's task: the one function that live runs and recoveries fold records through.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    conversation,
    operations::{Judged, Told, ToolOutcome},
    report, stages,
    state::{AdmissionFacts, AgentState, CallRecord, Ending, PendingCall, Stage},
    stop::AgentStop,
    view,
};
use crate::{
    core::{
        chain::{Decision, Event, Record},
        graph::Graph,
        machine::{Checkpoint, IllegalTransition, Loop, ModelFailure, Next},
        node_values::{output, to_value},
        ports::agent_model::{ModelCall, Reply},
        tools::{Course, ToolError, Verdict},
        view::View,
    },
    words::digest::Digest,
};

impl Loop for AgentState {
    const NAME: &'static str = "agent";
    const VERSION: u32 = 1;

    fn apply(&mut self, record: &Record) -> Result<(), IllegalTransition> {
        let sequence = record.position.sequence;
        let illegal = |reason: String| IllegalTransition { sequence, reason };
        self.now = record.at;
        self.position = record.position;
        match &record.event {
            Event::Admitted { facts, .. } => {
                let facts: AdmissionFacts = serde_json::from_str(facts.as_str())
                    .map_err(|error| illegal(error.to_string()))?;
                self.system = facts.system;
                self.started_at = Some(record.at);
                self.material = record.position.head;
            }
            Event::Resumed { .. } => self.resumed(),
            Event::Intended { graph } => self.intended(graph).map_err(illegal)?,
            Event::Finished { outputs, .. } => self.finished(outputs, sequence)?,
            Event::Decided { decision } => self.decided(decision).map_err(illegal)?,
            Event::Charged { .. } => (),
        }
        self.enforce_budgets();
        Ok(())
    }

    fn next(&self) -> Next {
        match (&self.stage, self.pending.front()) {
            (Stage::Turning, _) => {
                let graph = stages::turn(self.spending.turns() + 1);
                match self.retry_at {
                    Some(moment) => Next::RunAt(moment, graph),
                    None => Next::Run(graph),
                }
            }
            (Stage::Calling, Some(front)) => Next::Run(stages::call(
                self.spending.tool_calls() + 1,
                &front.calling(),
                front.course().unwrap_or(Course::Once),
            )),
            (Stage::Calling, None) => Next::Run(stages::turn(self.spending.turns() + 1)),
            (Stage::Waiting, _) => Next::Wait,
            (Stage::Interrupted(failure), _) => Next::Interrupted(failure.clone()),
            (Stage::Stopped(ending), _) => {
                Next::Run(stages::publish(report::outputs(self, ending)))
            }
            (Stage::Publishing(_, graph), _) => Next::Run(graph.clone()),
            (Stage::Published(..), _) => Next::Done,
        }
    }

    fn scope(&self) -> String {
        let request = &self.request.fields;
        format!(
            "agent:{}:{}:{}",
            request.tenant, request.principal, request.id
        )
    }

    fn material(&self) -> Digest {
        self.material
    }

    fn working_set(&self) -> Value {
        to_value(&self.messages())
    }

    fn reached(&self) -> &[Checkpoint] {
        &[]
    }

    fn view(&self) -> View {
        view::of(self)
    }
}

impl AgentState {
    /// The stage's name, as its Graph carries it.
    pub(super) const fn stage_name(&self) -> Option<&'static str> {
        match self.stage {
            Stage::Turning => Some(stages::TURN),
            Stage::Calling => Some(stages::CALL),
            Stage::Stopped(_) | Stage::Publishing(..) => Some(stages::PUBLISH),
            Stage::Waiting | Stage::Interrupted(_) | Stage::Published(..) => None,
        }
    }

    fn intended(&mut self, graph: &Graph) -> Result<(), String> {
        if self.stage_name() != Some(graph.stage()) {
            return Err(format!("the stage `{}` cannot begin here", graph.stage()));
        }
        match &self.stage {
            Stage::Turning if !self.spending.reserve_turn() => {
                return Err("no turn is left to reserve".to_owned());
            }
            Stage::Turning => self.retry_at = None,
            Stage::Calling if !self.spending.reserve_tool_call() => {
                return Err("no tool call is left to reserve".to_owned());
            }
            Stage::Stopped(ending) => self.stage = Stage::Publishing(ending.clone(), graph.clone()),
            Stage::Publishing(_, stored) if stored != graph => {
                return Err("the publication differs from the one that was intended".to_owned());
            }
            _ => (),
        }
        self.in_flight = true;
        Ok(())
    }

    fn resumed(&mut self) {
        match (&self.stage, self.pending.front()) {
            (Stage::Interrupted(_), _) => self.stage = Stage::Turning,
            (Stage::Calling, Some(front))
                if self.in_flight && front.course() == Some(Course::Once) =>
            {
                let error = ToolError::new(
                    "outcome-unknown",
                    format!(
                        "the runtime was interrupted while `{}` was under way; whether it has had its effect is unknown",
                        front.call.name
                    ),
                );
                self.answer_front(&Told::Error(error));
                self.go_on();
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
            Stage::Turning => {
                let reply = output(outputs, stages::REPLY_AT, sequence)?;
                self.replied(reply, outputs, sequence)
            }
            Stage::Calling => {
                let outcome: ToolOutcome = output(outputs, stages::OUTCOME_AT, sequence)?;
                if outcome.correlation + 1 != sequence {
                    return Err(IllegalTransition {
                        sequence,
                        reason: "its outcome belongs to another call".to_owned(),
                    });
                }
                self.answer_front(&outcome.result);
                self.go_on();
                Ok(())
            }
            Stage::Publishing(ending, graph) => {
                self.stage = Stage::Published(ending, graph);
                Ok(())
            }
            _ => Err(IllegalTransition {
                sequence,
                reason: "no stage is under way".to_owned(),
            }),
        }
    }

    fn decided(&mut self, decision: &Decision) -> Result<(), String> {
        let Some(front) = self.pending.front_mut() else {
            return Err("no call waits".to_owned());
        };
        if front.ticket != decision.subject {
            return Err("it is about another call".to_owned());
        }
        if decision.approved {
            front.approved_by = Some(decision.by.clone());
            self.stage = Stage::Calling;
        } else {
            let message = format!("`{}` was denied by a person", front.call.name);
            self.answer_front(&Told::Error(ToolError::new("call-denied", message)));
            self.go_on();
        }
        Ok(())
    }

    fn replied(
        &mut self,
        reply: Reply,
        outputs: &[Value],
        sequence: u64,
    ) -> Result<(), IllegalTransition> {
        self.answers += 1;
        match reply {
            Reply::Failed {
                code,
                message,
                retryable,
                retry_after_millis,
            } => {
                self.failures += 1;
                self.retry_at = retry_after_millis.and_then(|millis| self.retry_after(millis));
                if self.retry_at.is_none() {
                    self.stage = Stage::Interrupted(ModelFailure {
                        code,
                        message,
                        retryable,
                    });
                }
                Ok(())
            }
            Reply::Said {
                text,
                calls,
                finish_reason,
                usage,
            } => {
                self.failures = 0;
                let usage = usage
                    .unwrap_or_else(|| conversation::estimate(&self.messages(), &text, &calls));
                self.spending.count(usage);
                let Judged { verdicts } = output(outputs, stages::JUDGED_AT, sequence)?;
                if verdicts.len() != calls.len() {
                    return Err(IllegalTransition {
                        sequence,
                        reason: "it has not one verdict for each call".to_owned(),
                    });
                }
                self.said(text, calls, verdicts, &finish_reason);
                Ok(())
            }
        }
    }

    fn said(
        &mut self,
        text: String,
        calls: Vec<ModelCall>,
        verdicts: Vec<Verdict>,
        finish_reason: &str,
    ) {
        self.dialogue.said(text.clone(), calls.clone());
        self.material = self.position.head;
        // Calls of an answer that was cut off are not what the model meant.
        let complete = matches!(finish_reason, "stop" | "tool_calls" | "function_call");
        if !complete || calls.is_empty() && text.trim().is_empty() {
            let why = if complete {
                "the model answered with an empty text".to_owned()
            } else {
                format!("the model's answer ended with {finish_reason:?}")
            };
            self.stop(AgentStop::AnswerIncomplete, Some(why), None);
        } else if calls.is_empty() {
            self.stop(AgentStop::Answered, None, Some(text));
        } else {
            let turn = self.dialogue.turns();
            let pending = calls.into_iter().zip(verdicts).enumerate();
            self.pending = pending
                .map(|(place, (call, verdict))| PendingCall::new(call, verdict, turn, place))
                .collect();
            self.go_on();
        }
    }

    /// Answers refused calls, up to one that is to be made or approved.
    fn go_on(&mut self) {
        loop {
            self.stage = match self.pending.front().map(|front| &front.verdict) {
                None => Stage::Turning,
                Some(Verdict::Run(_)) => Stage::Calling,
                Some(Verdict::Ask(_)) => Stage::Waiting,
                Some(Verdict::Refused(error)) => {
                    let told = Told::Error(error.clone());
                    self.answer_front(&told);
                    continue;
                }
            };
            return;
        }
    }

    fn answer_front(&mut self, told: &Told) {
        let Some(front) = self.pending.pop_front() else {
            return;
        };
        let (text, outcome) = match told {
            Told::Result(value) => (value.to_string(), "done".to_owned()),
            Told::Error(error) => (json!({ "error": error }).to_string(), error.code.clone()),
        };
        self.calls.push(CallRecord {
            turn: self.dialogue.turns(),
            id: front.call.id.clone(),
            tool: front.call.name,
            digest: front.digest,
            outcome,
            approved_by: front.approved_by,
        });
        self.dialogue.answered(front.call.id, text);
        self.material = self.position.head;
    }

    /// When the model is asked again, if another turn may be reserved then.
    fn retry_after(&self, millis: u64) -> Option<Timestamp> {
        let moment = self.now.checked_add(Duration::from_millis(millis)).ok()?;
        let started = self.started_at?;
        self.spending.admit_turn(started, moment).ok()?;
        Some(moment)
    }

    fn stop(&mut self, reason: AgentStop, detail: Option<String>, answer: Option<String>) {
        self.stage = Stage::Stopped(Ending {
            reason,
            detail,
            answer,
        });
    }

    /// Stops where the next reservation would not be admitted.
    fn enforce_budgets(&mut self) {
        let Some(started) = self.started_at.filter(|_| !self.in_flight) else {
            return;
        };
        let admitted = match self.stage {
            Stage::Turning => self.spending.admit_turn(started, self.now),
            // Nobody is asked about a call that could not be made.
            Stage::Calling | Stage::Waiting => self.spending.admit_tool_call(started, self.now),
            _ => Ok(()),
        };
        let Err(reason) = admitted else { return };
        let budgets = self.spending.budgets();
        let detail = match reason {
            AgentStop::MaxTurns => format!("all {} turns are used", budgets.max_turns),
            AgentStop::MaxToolCalls => {
                format!("all {} tool calls are used", budgets.max_tool_calls)
            }
            AgentStop::MaxTokens => format!("all {} tokens are used", budgets.max_tokens),
            _ => format!(
                "the deadline of {} seconds since admission has passed",
                budgets.deadline_seconds
            ),
        };
        self.stop(reason, Some(detail), None);
    }
}
