//! The contract's exports, answered by a [`Plugin`]: reads what came as JSON, and decides nothing.

use std::marker::PhantomData;

use crate::bindings::exports::wharf::domain::{tools, validator};
use crate::bindings::wharf::domain::business::Transaction;
use crate::{
    Answer, Completed, Conclusion, Descriptor, Failure, Plan, Plugin, Request, Step, Task, Tx,
    Violation, json,
};

/// Exports a [`Plugin`] from the component. Does nothing in native builds.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::adapter::Adapter<$plugin>;
    $crate::bindings::export!(Exported with_types_in $crate::bindings);
        };
    };
}

/// The exports of one plugin.
pub struct Adapter<P>(PhantomData<P>);

impl<P: Plugin> validator::Guest for Adapter<P> {
    fn describe() -> Descriptor {
        P::describe()
    }

    fn check_task(task: Task) -> Result<String, Vec<Violation>> {
        Ok(P::subject(&request::<P>(task)?))
    }

    fn operation_key(task: Task, tool: String, arguments: Option<String>) -> Option<String> {
        P::operation_key(&task, &tool, arguments.as_deref())
    }

    fn check_plan(task: Task, snapshot: String, plan: Plan) -> Result<(), Vec<Violation>> {
        let faults = P::check_plan(&request::<P>(task)?, &parsed::<P>(&snapshot)?, &plan);
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    fn conclude(
        task: Task,
        snapshot: String,
        completed: Vec<Completed>,
    ) -> Result<Conclusion, Vec<Violation>> {
        P::conclude(&request::<P>(task)?, &parsed::<P>(&snapshot)?, &completed)
    }
}

impl<P: Plugin> tools::Guest for Adapter<P> {
    fn snapshot(task: Task, tx: &Transaction) -> Result<String, Failure> {
        snapshot::<P>(task, &Tx::over(tx))
    }

    fn perform(task: Task, step: Step, tx: &Transaction) -> Result<Answer, Failure> {
        perform::<P>(task, &step, &Tx::over(tx))
    }
}

/// `tools.snapshot` over any transaction.
pub fn snapshot<P: Plugin>(task: Task, tx: &Tx<'_>) -> Result<String, Failure> {
    let snapshot = P::snapshot(&request::<P>(task).map_err(rejected)?, tx)?;
    Ok(json(&snapshot))
}

/// `tools.perform` over any transaction.
pub fn perform<P: Plugin>(task: Task, step: &Step, tx: &Tx<'_>) -> Result<Answer, Failure> {
    P::perform(&request::<P>(task).map_err(rejected)?, step, tx)
}

fn request<P: Plugin>(task: Task) -> Result<Request<P::Input>, Vec<Violation>> {
    let input = P::input(&task)?;
    Ok(Request { task, input })
}

/// The host hands a snapshot back as the plugin wrote it; any other text is a fault, not a trap.
fn parsed<P: Plugin>(snapshot: &str) -> Result<P::Snapshot, Vec<Violation>> {
    serde_json::from_str(snapshot).map_err(|error| {
        let message = format!("the snapshot is not this plugin's: {error}");
        vec![Violation::new("unreadable-snapshot", message)]
    })
}

/// The host has had the task checked before it opened a transaction.
fn rejected(faults: Vec<Violation>) -> Failure {
    let messages: Vec<_> = faults.into_iter().map(|fault| fault.message).collect();
    Failure::Rejected(messages.join("; "))
}
