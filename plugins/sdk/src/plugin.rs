//! What a plugin implements.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Answer, Completed, Conclusion, Descriptor, Failure, Plan, Step, Task, Tx, Violation};

/// A business domain. The contract in `wit/` says when each function is called and what its answer
/// means.
///
/// Nothing is kept between calls: all functions are without a receiver, the host may ask each of them
/// on an instance of its own, and the same arguments get the same answer.
pub trait Plugin: 'static {
    /// What a task asks for: its `input`, read and checked.
    type Input;

    /// The slice of business state that a task's plan is made from. It goes to the host, the planner
    /// and back as JSON.
    type Snapshot: Serialize + DeserializeOwned;

    /// Who the plugin is and what it offers: always the same.
    fn describe() -> Descriptor;

    /// Reads `task.input`, or lists every fault of it; see [`Fields`](crate::Fields). Asked before any
    /// other function that is given a [`Request`].
    fn input(task: &Task) -> Result<Self::Input, Vec<Violation>>;

    /// On what the task's operations happen at most once, in this and in all other tasks; the task's
    /// id if they may recur in others. 1 to 200 bytes.
    fn subject(request: &Request<Self::Input>) -> String;

    /// The semantic name of an operation on the subject, 1 to 200 bytes; none for a read without a
    /// ledger row, and for a tool that does not exist.
    fn operation_key(task: &Task, tool: &str, arguments: Option<&str>) -> Option<String>;

    /// Every fault of the plan, each once; none: it may be executed.
    fn check_plan(
        request: &Request<Self::Input>,
        snapshot: &Self::Snapshot,
        plan: &Plan,
    ) -> Vec<Violation>;

    /// What the report may claim, or every way in which the outcome differs from the request.
    fn conclude(
        request: &Request<Self::Input>,
        snapshot: &Self::Snapshot,
        completed: &[Completed],
    ) -> Result<Conclusion, Vec<Violation>>;

    /// Reads the task's slice of the business state. No rows may change.
    fn snapshot(request: &Request<Self::Input>, tx: &Tx<'_>) -> Result<Self::Snapshot, Failure>;

    /// Checks the preconditions again and performs one step of an accepted plan.
    fn perform(request: &Request<Self::Input>, step: &Step, tx: &Tx<'_>)
    -> Result<Answer, Failure>;
}

/// A task whose input has been read.
#[derive(Debug, Clone)]
pub struct Request<I> {
    /// The task, as the host has it.
    pub task: Task,
    /// Its input.
    pub input: I,
}
