//! Lets a constraint roll the host's whole transaction back, and answers as if all were well. The call ends as a fault of
//! the plugin.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        let again = "INSERT OR ROLLBACK INTO things (id) SELECT id FROM things";
        let _ = tx.execute(again, &[]);
        Ok(honest::done("added", "{}"))
    }
}
