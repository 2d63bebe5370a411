//! Asks the database the same thing without end. The calls of the host come to an end.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        loop {
            let _ = tx.query("SELECT 1", &[]);
        }
    }
}
