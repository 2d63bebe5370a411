//! Fails with the case that is reserved for calls to outside systems, having written. It is a fault, and what was written
//! is gone.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, _: &Transaction) -> Result<String, Failure> {
        Err(Failure::OutcomeUnknown("who knows".into()))
    }

    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        Err(Failure::OutcomeUnknown("who knows".into()))
    }
}
