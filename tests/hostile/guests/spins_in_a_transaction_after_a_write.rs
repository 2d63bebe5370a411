//! Writes, and then holds the open transaction for ever. The call ends by its deadline, the row is gone, and the database's
//! lock is free.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest, spin};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        spin()
    }
}
