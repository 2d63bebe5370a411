//! A snapshot that has nothing to do with the rows. Whoever plans is deceived; what is written is what the steps wrote,
//! once.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, _: &Transaction) -> Result<String, Failure> {
        Ok(r#"{"things": 1000000}"#.into())
    }
}
