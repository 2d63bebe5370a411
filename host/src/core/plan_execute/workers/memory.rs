//! The Memory worker: reservations, which the driver has made durable with the intent, and evidence.

use serde_json::Value;

use super::Records;
use crate::core::{
    cancel::Halt,
    graph::Node,
    node_values::input,
    plan_execute::{
        operations::{Memory, Outcome, Performance},
        state::TaskState,
    },
    worker::{Moment, Worker, Yield},
};

pub(super) struct MemoryWorker {
    pub(super) records: Records,
}

impl Worker<TaskState> for MemoryWorker {
    fn run(
        &self,
        _node: &Node,
        inputs: &[&Value],
        at: &Moment<'_, TaskState>,
    ) -> Result<Yield, Halt> {
        match input(inputs, 0)? {
            // Folding the intent has counted it, and the driver does not run a Graph with an effect before its intent is durable.
            Memory::ReservePlan(_) | Memory::ReserveAction(_) => (),
            Memory::KeepEvidence => {
                let performance: Performance = input(inputs, 1)?;
                if let (Some(Outcome::Recorded(record)), Some(performing)) =
                    (performance.outcome, at.state.performing())
                {
                    self.records
                        .keep(at.state.request(), &performing.step.tool, &record)?;
                }
            }
            Memory::VerifyEvidence => self.records.verify(at.state)?,
        }
        Ok(Value::Null.into())
    }
}
