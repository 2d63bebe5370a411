//! Gives its transaction back and goes on using it. The call ends.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        drop(unsafe { Transaction::from_handle(tx.handle()) });
        honest::add(task, tx)?;
        Ok(honest::done("added", "{}"))
    }
}
