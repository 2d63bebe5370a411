//! Lets the database spin in its place: a statement that never ends, again and again. Each ends by the limit of statements,
//! and the call by its deadline.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        loop {
            let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
            let _ = tx.query(endless, &[]);
        }
    }
}
