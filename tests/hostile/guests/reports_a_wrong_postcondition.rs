//! Writes, and reports a state that its tool does not lead to. The step is not done, and what was written is gone.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        Ok(honest::done("seen", "{}"))
    }
}
