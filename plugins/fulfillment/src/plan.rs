//! Whether a proposed plan may be executed.

mod chain;
mod operations;
#[cfg(test)]
mod tests;

use crate::feasibility;
use crate::input::Input;
use crate::snapshot::Snapshot;
use crate::violation::Violation;

/// What of a proposed plan the domain judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What the planner claims.
    pub status: Status,
    /// In the order in which they would be executed.
    pub steps: Vec<Step>,
}

/// What a planner claims about the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The steps complete it.
    Ready,
    /// It cannot be completed; a person has to decide.
    NeedsHuman,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Unique in its plan.
    pub id: String,
    /// The name of a [tool](crate::tool::Tool).
    pub tool: String,
    /// Ids of earlier steps.
    pub depends_on: Vec<String>,
    /// The tool's postcondition.
    pub expected: String,
    /// Whether the step carries arguments, which no tool takes.
    pub has_arguments: bool,
}

/// Every fault of the plan, each once; empty: it may be executed.
pub fn check(input: &Input, snapshot: &Snapshot, plan: &Plan) -> Vec<Violation> {
    let obstacles = feasibility::obstacles(input, snapshot);
    match plan.status {
        Status::Ready => [
            obstacles,
            chain::faults(&plan.steps),
            operations::faults(input, snapshot, &plan.steps),
        ]
        .concat(),
        Status::NeedsHuman => escalation_faults(&obstacles, &plan.steps),
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
