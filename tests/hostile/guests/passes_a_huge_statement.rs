//! A statement of 50 MB. The host does not copy it.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        let _ = tx.query(&"x".repeat(50_000_000), &[]);
        Ok("{}".into())
    }
}
