//! The honest plugin that every attack begins from.
//!
//! An attack is a type that implements [`Guest`] and overrides one function of it; `export!` makes a component of it. A task
//! whose goal is [`BEHAVE`] gets the honest answers from every guest, so that a test can see that a guest which has just been
//! stopped works like any other.

mod allocator;
pub mod honest;
mod novelty;
pub mod raw;

use std::marker::PhantomData;

pub use allocator::{Allocator, SIGNAL};
pub use novelty::{anything_new, nth_call};
pub use raw::{RawAnswer, RawGuest};

pub use wharf_plugin::bindings;
pub use wharf_plugin::{
    Answer, Artifact, Completed, Conclusion, Descriptor, Effect, Failure, Migration, Outcome, Plan,
    RowSet, SqlError, Step, Task, Tool, Value, Violation, log,
};

use bindings::exports::wharf::domain::{tools, validator};
pub use bindings::wharf::domain::business::Transaction;

/// The goal of a task in which a guest attacks nobody.
pub const BEHAVE: &str = "behave";

/// The exports of the contract, each with an honest answer.
#[allow(
    unused_variables,
    reason = "an honest answer needs little of what it is given"
)]
pub trait Guest: 'static {
    fn describe() -> Descriptor {
        let mut descriptor = honest::describe();
        Self::redescribe(&mut descriptor);
        descriptor
    }

    /// What it changes in the honest description.
    fn redescribe(descriptor: &mut Descriptor) {}

    fn check_task(task: &Task) -> Result<String, Vec<Violation>> {
        honest::check_task()
    }

    fn operation_key(task: &Task, tool: &str) -> Option<String> {
        honest::operation_key(tool)
    }

    fn check_plan(task: &Task, snapshot: &str, plan: &Plan) -> Result<(), Vec<Violation>> {
        honest::check_plan(plan)
    }

    fn conclude(
        task: &Task,
        snapshot: &str,
        completed: &[Completed],
    ) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        Self::reconclude(task, &mut conclusion);
        Ok(conclusion)
    }

    /// What it changes in the honest conclusion.
    fn reconclude(task: &Task, conclusion: &mut Conclusion) {}

    fn snapshot(task: &Task, tx: &Transaction) -> Result<String, Failure> {
        honest::snapshot(tx)
    }

    fn perform(task: &Task, step: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::perform(task, step, tx)
    }
}

/// The honest plugin itself.
pub struct Honest;

impl Guest for Honest {}

/// Exports a guest from its component.
#[macro_export]
macro_rules! export {
    ($guest:ty) => {
        type Exported = $crate::Exported<$guest>;
        $crate::bindings::export!(Exported with_types_in $crate::bindings);
    };
}

/// What a component exports: the guest, or the honest plugin if the task says so.
pub struct Exported<G>(PhantomData<G>);

fn behaves(task: &Task) -> bool {
    task.goal == BEHAVE
}

impl<G: Guest> validator::Guest for Exported<G> {
    fn describe() -> Descriptor {
        G::describe()
    }

    fn check_task(task: Task) -> Result<String, Vec<Violation>> {
        if behaves(&task) {
            return Honest::check_task(&task);
        }
        G::check_task(&task)
    }

    fn operation_key(task: Task, tool: String, _: Option<String>) -> Option<String> {
        if behaves(&task) {
            return Honest::operation_key(&task, &tool);
        }
        G::operation_key(&task, &tool)
    }

    fn check_plan(task: Task, snapshot: String, plan: Plan) -> Result<(), Vec<Violation>> {
        if behaves(&task) {
            return Honest::check_plan(&task, &snapshot, &plan);
        }
        G::check_plan(&task, &snapshot, &plan)
    }

    fn conclude(
        task: Task,
        snapshot: String,
        completed: Vec<Completed>,
    ) -> Result<Conclusion, Vec<Violation>> {
        if behaves(&task) {
            return Honest::conclude(&task, &snapshot, &completed);
        }
        G::conclude(&task, &snapshot, &completed)
    }
}

impl<G: Guest> tools::Guest for Exported<G> {
    fn snapshot(task: Task, tx: &Transaction) -> Result<String, Failure> {
        if behaves(&task) {
            return Honest::snapshot(&task, tx);
        }
        G::snapshot(&task, tx)
    }

    fn perform(task: Task, step: Step, tx: &Transaction) -> Result<Answer, Failure> {
        if behaves(&task) {
            return Honest::perform(&task, &step, tx);
        }
        G::perform(&task, &step, tx)
    }
}

/// One fault of a task or a plan.
pub fn violation(code: &str, message: &str) -> Violation {
    Violation {
        code: code.into(),
        message: message.into(),
        step: None,
    }
}

/// Runs statements of which none should, as queries and as changes, and names the first that did.
pub fn try_all(tx: &Transaction, statements: &[&str]) -> Result<Answer, Failure> {
    for statement in statements {
        let changed = tx.execute(statement, &[]).map(|rows| rows.to_string());
        let found = tx.query(statement, &[]).map(|rows| format!("{rows:?}"));
        if let Ok(answer) = changed.or(found) {
            return Err(Failure::Rejected(format!("{statement} worked: {answer}")));
        }
    }
    Err(Failure::Rejected("nothing worked".into()))
}

/// Never ends, and does nothing meanwhile.
pub fn spin() -> ! {
    loop {
        std::hint::black_box(0);
    }
}
