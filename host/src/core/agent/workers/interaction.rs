//! The Interaction worker: verdicts on calls, native tools and those with a ledger row, and the published files.

use serde_json::Value;

use super::AgentPorts;
use crate::{
    core::{
        agent::{
            operations::{AgentAct, Judged},
            state::AgentState,
        },
        cancel::Halt,
        graph::{Node, NodeKind},
        node_values::{input, to_value},
        outputs::Output,
        ports::agent_model::Reply,
        tools::{ToolError, Verdict},
        worker::{Moment, Worker, Yield},
    },
    words::error::{Error, Facts, Fault, Kind},
};

/// The most calls of one answer; those behind are refused.
const MAX_CALLS: usize = 64;

pub(super) struct InteractionWorker {
    pub(super) ports: AgentPorts,
}

impl Worker<AgentState> for InteractionWorker {
    fn run(
        &self,
        node: &Node,
        inputs: &[&Value],
        at: &Moment<'_, AgentState>,
    ) -> Result<Yield, Halt> {
        if node.kind != NodeKind::InteractionAct {
            return Ok(to_value(&self.judge(&input(inputs, 0)?)).into());
        }
        match input(inputs, 0)? {
            AgentAct::Call(calling) => {
                let memories = self.ports.memories.as_deref();
                self.ports
                    .call(&calling, memories.map(|memories| memories as _), at)
            }
            AgentAct::Publish(outputs) => Ok(self.publish(&outputs, at)?.into()),
        }
    }

    fn settle(&self) -> Result<(), Error> {
        self.ports.business.settle()
    }
}

impl InteractionWorker {
    fn judge(&self, reply: &Reply) -> Judged {
        let calls = match reply {
            Reply::Said { calls, .. } => calls.as_slice(),
            Reply::Failed { .. } => &[],
        };
        let judged = calls.iter().enumerate().map(|(place, call)| {
            if place >= MAX_CALLS {
                let why = format!("one answer may make {MAX_CALLS} calls");
                return Verdict::Refused(ToolError::new("too-many-calls", why));
            }
            self.ports.tools.judge(&call.name, &call.arguments)
        });
        Judged {
            verdicts: judged.collect(),
        }
    }

    fn publish(&self, outputs: &[Output], at: &Moment<'_, AgentState>) -> Result<Value, Error> {
        let files: Result<Vec<_>, _> = outputs.iter().map(Output::file).collect();
        self.ports
            .archive
            .publish(&at.state.request().fields.id, &files.map_err(NotBase64)?)?;
        Ok(Value::Null)
    }
}

/// An output of the journal that is not base64.
#[derive(Debug, thiserror::Error)]
#[error("an output in the journal is not base64")]
struct NotBase64(#[source] base64::DecodeError);

impl Fault for NotBase64 {
    fn facts(&self) -> Facts {
        Facts::new(
            "output-not-base64",
            Kind::Corrupt,
            "restore memory.sqlite from a backup",
        )
    }
}
