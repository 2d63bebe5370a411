//! A statement with 100,000 parameters of 20 letters. The host does not copy so many.

use hostile::{Failure, Guest, Task, Transaction, Value};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        let parameters = vec![Value::Text("x".repeat(20)); 100_000];
        let _ = tx.query("SELECT ?1", &parameters);
        Ok("{}".into())
    }
}
