//! Ends the process, with success, in the middle of a step. It is the plugin's call that ends, as a fault, and what was
//! written is gone.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        std::process::exit(0)
    }
}
