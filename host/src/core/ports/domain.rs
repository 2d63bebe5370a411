//! The domain: a plugin that knows what a valid plan is and performs its steps.

use std::sync::Arc;

use serde_json::Value;

use super::business::Sql;
use crate::{
    core::{
        contract::{
            Completed, Conclusion, Descriptor, Failure, OperationKey, Plan, Step, StepAnswer,
            Subject, Violation,
        },
        request::Request,
    },
    words::{error::Error, json::JsonText},
};

/// What a plugin has declared, read once, when it was loaded. Answered without calling it.
pub trait Declared: Send + Sync {
    /// What the plugin says of itself.
    fn descriptor(&self) -> &Descriptor;

    /// For the arguments of one plan. They share a bound on the work: a plan beyond it has a fault.
    fn arguments_check(&self) -> Box<dyn ArgumentsCheck + '_>;
}

/// Compares the arguments of one plan with the schemas of the tools, step by step.
pub trait ArgumentsCheck {
    /// What the tool's schema has against the arguments, each fault once, with its place as a JSON pointer; at most 21 lines of
    /// at most 700 bytes, escaped. None: they fit, or the tool has no schema.
    fn faults(&mut self, tool: &str, arguments: &Value) -> Vec<String>;
}

/// One loaded plugin, at one digest. Every call runs in a fresh sandbox under its own limits and ends within them;
/// whatever it does wrong is an error of kind `plugin-fault`, after which the next call works.
pub trait Domain: Declared {
    /// The task's subject, or every fault of the request.
    fn check_task(&self, request: &Request) -> Result<Result<Subject, Vec<Violation>>, Error>;

    /// The key of the business operation that a tool performs for this request; none: a read without a ledger row.
    fn operation_key(
        &self,
        request: &Request,
        tool: &str,
        arguments: Option<&JsonText>,
    ) -> Result<Option<OperationKey>, Error>;

    /// Every fault of the plan, or none.
    fn check_plan(
        &self,
        request: &Request,
        snapshot: &JsonText,
        plan: &Plan,
    ) -> Result<Vec<Violation>, Error>;

    /// The first of the candidates that the plugin accepts; all in one sandbox.
    fn first_accepted(
        &self,
        request: &Request,
        snapshot: &JsonText,
        candidates: &mut dyn Iterator<Item = Plan>,
    ) -> Result<Option<Plan>, Error>;

    /// Whether the completed steps fulfil the request in the final state, and what may be claimed.
    fn conclude(
        &self,
        request: &Request,
        snapshot: &JsonText,
        completed: &[Completed],
    ) -> Result<Result<Conclusion, Vec<Violation>>, Error>;

    /// The slice of business state that concerns this request. The plugin cannot use `sql` after the call.
    /// A failure other than `rejected` is a contract violation and comes back as an error.
    fn snapshot(
        &self,
        request: &Request,
        sql: Arc<dyn Sql>,
    ) -> Result<Result<JsonText, Failure>, Error>;

    /// Prepares a sandbox for one step, so that only the step itself runs while the database is locked.
    fn prepare(&self, request: &Request, step: &Step) -> Result<Box<dyn PreparedStep>, Error>;
}

/// A sandbox that waits for its transaction.
pub trait PreparedStep: Send {
    /// Performs the step. The plugin cannot use `sql` after the call. `Done` carries a state that equals the tool's
    /// postcondition; any other is a contract violation and comes back as an error.
    fn perform(self: Box<Self>, sql: Arc<dyn Sql>) -> Result<Result<StepAnswer, Failure>, Error>;
}
