//! The half of the contract that works inside the host's transaction.

use super::Fulfillment;
use super::bindings::exports::wharf::domain::tools::{Answer, Failure, Guest, Outcome};
use super::bindings::wharf::domain::business::Transaction;
use super::bindings::wharf::domain::types::{Step, Task};
use super::store;
use super::translate::json;
use crate::input::Input;
use crate::perform;
use crate::tool::Tool;
use crate::violation::quoted;

impl Guest for Fulfillment {
    fn snapshot(task: Task, tx: &Transaction) -> Result<String, Failure> {
        let facts = store::read(tx, &input(&task)?.order_id)?;
        Ok(json(&facts.snapshot))
    }

    fn perform(task: Task, step: Step, tx: &Transaction) -> Result<Answer, Failure> {
        let input = input(&task)?;
        let tool = Tool::named(&step.tool)
            .ok_or_else(|| Failure::Rejected(format!("there is no tool {}", quoted(&step.tool))))?;
        let facts = store::read(tx, &input.order_id)?;
        let record = perform::decide(tool, &task.id, &input, &facts)?;
        store::write(tx, tool.operation(), &record)?;
        Ok(Answer::Done(Outcome {
            data: json(&record),
            state: record.state,
        }))
    }
}

/// The host has had the task checked before it opened a transaction.
fn input(task: &Task) -> Result<Input, Failure> {
    Input::parse(&task.input).map_err(|faults| {
        let faults: Vec<_> = faults.into_iter().map(|fault| fault.message).collect();
        Failure::Rejected(faults.join("; "))
    })
}
