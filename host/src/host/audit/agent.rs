//! What an audit looks at in an agent's task beside what is the same in both patterns.

use std::sync::Arc;

use super::{Auditor, Folded, TaskAudit, fold};
use crate::{
    core::{
        agent::{
            operations::{AgentAct, Calling},
            request::AgentRequest,
            state::{AgentState, digest_of},
        },
        graph::{Graph, Input, NodeKind},
        machine::Machine,
        ports::{business::LedgerRow, journal::StoredRecord},
    },
    words::error::Error,
};

impl Auditor {
    /// The records fold, each intent follows from them, every call is the one that was judged or approved, every ledger row belongs
    /// to one, and the outputs are those that were intended.
    pub(super) fn agent(
        &self,
        request: &Arc<AgentRequest>,
        stored: &[StoredRecord],
        rows: &[LedgerRow],
        audit: &mut TaskAudit,
    ) -> Result<(), Error> {
        let machine = Machine::new(AgentState::new(Arc::clone(request)), request.fingerprint());
        let folded = fold(machine, stored, audit);
        for intent in &folded.intents {
            if let Some(calling) = calling(&intent.graph)
                && digest_of(&calling.call) != calling.digest
            {
                let place = super::record_place(intent.sequence);
                let found = format!(
                    "the call of `{}` is not the one of its digest",
                    calling.call.name
                );
                audit.find("call-differs", found, &place);
            }
        }
        check_rows(rows, &folded, audit);
        let outputs = folded.machine.state().publication().unwrap_or_default();
        self.outputs(outputs, folded.machine.is_done(), audit)
    }
}

fn check_rows(rows: &[LedgerRow], folded: &Folded<AgentState>, audit: &mut TaskAudit) {
    for row in rows {
        let place = format!("wharf_ledger: {}", row.key.as_str());
        let intent = folded
            .intents
            .iter()
            .find(|intent| intent.sequence == row.sequence);
        match intent.map(|intent| (intent, calling(&intent.graph))) {
            Some((intent, Some(calling)))
                if calling.call.name == row.tool && intent.at == row.at => {}
            None if !folded.whole => (),
            Some(_) => audit.find(
                "ledger-row-differs",
                format!(
                    "record {} intends another call than the row says",
                    row.sequence
                ),
                &place,
            ),
            None => audit.find(
                "ledger-row-unknown",
                format!(
                    "record {} of the journal intends no such operation",
                    row.sequence
                ),
                &place,
            ),
        }
    }
}

/// The call that a Graph makes, if it makes one.
fn calling(graph: &Graph) -> Option<Calling> {
    graph.nodes().iter().find_map(|node| {
        let Some(Input::Literal(literal)) = node.inputs.first() else {
            return None;
        };
        match node.kind {
            NodeKind::MemoryGet | NodeKind::MemoryWrite => {
                serde_json::from_value(literal.clone()).ok()
            }
            NodeKind::InteractionAct => match serde_json::from_value(literal.clone()) {
                Ok(AgentAct::Call(calling)) => Some(calling),
                _ => None,
            },
            _ => None,
        }
    })
}
