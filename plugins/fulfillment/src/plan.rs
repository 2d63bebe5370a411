//! Whether a proposed plan may be executed.

mod operations;
#[cfg(test)]
mod tests;

use wharf_plugin::plan::chain;
use wharf_plugin::{Plan, PlanStatus, Step, Violation};

use crate::feasibility;
use crate::input::Input;
use crate::snapshot::Snapshot;

/// Every fault of the plan, each once; empty: it may be executed.
pub fn check(input: &Input, snapshot: &Snapshot, plan: &Plan) -> Vec<Violation> {
    let obstacles = feasibility::obstacles(input, snapshot);
    match plan.status {
        PlanStatus::Ready => [
            obstacles,
            chain(&plan.steps),
            operations::faults(input, snapshot, &plan.steps),
        ]
        .concat(),
        PlanStatus::NeedsHuman => escalation_faults(&obstacles, &plan.steps),
    }
}

fn escalation_faults(obstacles: &[Violation], steps: &[Step]) -> Vec<Violation> {
    let mut faults = Vec::new();
    if obstacles.is_empty() {
        let message = "the order can still be completed; a person is not needed";
        faults.push(Violation::new("unjustified-escalation", message));
    }
    if !steps.is_empty() {
        let message = "a plan that needs a person has no steps";
        faults.push(Violation::new("escalation-with-steps", message));
    }
    faults
}
