//! The state of an agent's task, as its journal folds to it. How it changes is in `transitions`.

use std::{collections::VecDeque, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    budgets::AgentSpending,
    conversation::{Dialogue, SHOWN_BYTES},
    operations::{AgentAct, Calling},
    prompt,
    request::AgentRequest,
    stop::AgentStop,
};
use crate::{
    core::{
        chain::{self, Event},
        graph::{Graph, Input},
        machine::{Loop as _, ModelFailure},
        outputs::Output,
        ports::{
            agent_model::{Message, ModelCall},
            journal::Position,
        },
        tools::{Course, Verdict},
    },
    words::{
        digest::Digest,
        id::PrincipalId,
        json::{JsonText, canonical},
    },
};

/// An agent's task, folded from its journal.
#[derive(Debug, Clone)]
pub struct AgentState {
    pub(super) request: Arc<AgentRequest>,
    /// The instructions, as they were at admission.
    pub(super) system: String,
    pub(super) started_at: Option<Timestamp>,
    pub(super) now: Timestamp,
    pub(super) position: Position,
    pub(super) spending: AgentSpending,
    pub(super) answers: usize,
    /// Of the last answers of this run, those that were failures.
    pub(super) failures: u32,
    /// When the model may be asked again.
    pub(super) retry_at: Option<Timestamp>,
    pub(super) dialogue: Dialogue,
    /// The newest answer's calls that are still to be answered, in order.
    pub(super) pending: VecDeque<PendingCall>,
    /// All calls that were answered, in order.
    pub(super) calls: Vec<CallRecord>,
    pub(super) stage: Stage,
    pub(super) in_flight: bool,
    /// The journal head at which the conversation last changed.
    pub(super) material: Digest,
}

/// A call that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct PendingCall {
    pub(super) call: ModelCall,
    pub(super) digest: Digest,
    /// Of this very call, at its place in the conversation: another one of the same text has another.
    pub(super) ticket: Digest,
    pub(super) verdict: Verdict,
    /// Who approved it.
    pub(super) approved_by: Option<PrincipalId>,
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// The turn that asked for it, from 1.
    pub turn: usize,
    /// The model's id of it.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The digest of tool and arguments.
    pub digest: Digest,
    /// `done`, or the code of the tool's error.
    pub outcome: String,
    /// Who approved it, where somebody had to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<PrincipalId>,
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingCall {
    /// The tool.
    pub tool: String,
    /// Its arguments, as canonical JSON (RFC 8785).
    pub arguments: String,
    /// The digest of tool, arguments and place in the conversation: what an approval is bound to.
    pub digest: Digest,
}

#[derive(Debug, Clone)]
pub(super) enum Stage {
    Turning,
    Calling,
    Waiting,
    Interrupted(ModelFailure),
    Stopped(Ending),
    Publishing(Ending, Graph),
    Published(Ending, Graph),
}

/// How a task ended.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    pub(super) reason: AgentStop,
    pub(super) detail: Option<String>,
    pub(super) answer: Option<String>,
}

/// What the admission remembers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AdmissionFacts {
    pub(super) system: String,
}

impl AgentState {
    /// A task before its admission.
    #[must_use]
    pub fn new(request: Arc<AgentRequest>) -> Self {
        let origin = chain::origin(request.fingerprint());
        Self {
            spending: AgentSpending::new(request.fields.budgets),
            request,
            system: String::new(),
            started_at: None,
            now: Timestamp::UNIX_EPOCH,
            position: origin,
            answers: 0,
            failures: 0,
            retry_at: None,
            dialogue: Dialogue::default(),
            pending: VecDeque::new(),
            calls: Vec::new(),
            stage: Stage::Turning,
            in_flight: false,
            material: origin.head,
        }
    }

    /// The record that admits a task, with the agent's own instructions.
    #[must_use]
    pub fn admission(request: &AgentRequest, instructions: &str) -> Event {
        let system = prompt::system(request.fields.agent.as_str(), instructions);
        Event::Admitted {
            pattern: Self::NAME.to_owned(),
            version: Self::VERSION,
            fingerprint: request.fingerprint(),
            facts: JsonText::of(&AdmissionFacts { system }),
        }
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> &AgentRequest {
        &self.request
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

    /// What the model is shown next.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.dialogue
            .shown(&self.system, &self.request.fields.prompt, SHOWN_BYTES)
    }

    /// The call that waits for a person, if one does.
    #[must_use]
    pub fn waiting(&self) -> Option<WaitingCall> {
        let front = self.pending.front()?;
        matches!(self.stage, Stage::Waiting).then(|| WaitingCall {
            tool: front.call.name.clone(),
            arguments: canonical(&arguments_of(&front.call)),
            digest: front.ticket,
        })
    }

    /// All calls that were answered.
    #[must_use]
    pub fn calls(&self) -> &[CallRecord] {
        &self.calls
    }

    /// Why the task stopped, once it has.
    #[must_use]
    pub fn stop_reason(&self) -> Option<AgentStop> {
        self.verdict().map(|verdict| verdict.reason)
    }

    /// The model's answer, once it has given it.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        self.verdict().and_then(|verdict| verdict.answer.as_deref())
    }

    /// The outputs whose publication is intended or done.
    #[must_use]
    pub fn publication(&self) -> Option<Vec<Output>> {
        let (Stage::Publishing(_, graph) | Stage::Published(_, graph)) = &self.stage else {
            return None;
        };
        let Input::Literal(literal) = graph.nodes().first()?.inputs.first()? else {
            return None;
        };
        match serde_json::from_value(literal.clone()) {
            Ok(AgentAct::Publish(outputs)) => Some(outputs),
            _ => None,
        }
    }

    pub(super) const fn verdict(&self) -> Option<&Ending> {
        match &self.stage {
            Stage::Stopped(verdict)
            | Stage::Publishing(verdict, _)
            | Stage::Published(verdict, _) => Some(verdict),
            _ => None,
        }
    }
}

impl PendingCall {
    /// The call at a place of the answer of a turn.
    pub(super) fn new(call: ModelCall, verdict: Verdict, turn: usize, place: usize) -> Self {
        let digest = digest_of(&call);
        let ticket = json!({ "call": digest, "turn": turn, "place": place });
        Self {
            digest,
            ticket: Digest::of(canonical(&ticket)),
            call,
            verdict,
            approved_by: None,
        }
    }

    pub(super) const fn course(&self) -> Option<Course> {
        match self.verdict {
            Verdict::Run(course) | Verdict::Ask(course) => Some(course),
            Verdict::Refused(_) => None,
        }
    }

    pub(super) fn calling(&self) -> Calling {
        Calling {
            call: self.call.clone(),
            digest: self.digest,
            approved: self.approved_by.is_some(),
        }
    }
}

/// Of tool and canonical arguments; of the text of arguments that are no JSON.
pub(crate) fn digest_of(call: &ModelCall) -> Digest {
    let arguments = arguments_of(call);
    Digest::of(canonical(
        &json!({ "tool": call.name, "arguments": arguments }),
    ))
}

fn arguments_of(call: &ModelCall) -> Value {
    let text = call.arguments.trim();
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) if text.is_empty() => json!({}),
        Err(_) => json!({ "text": text }),
    }
}
