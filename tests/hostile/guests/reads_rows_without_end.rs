//! Asks for ten thousand rows of 1000 bytes, a hundred times, and keeps what it gets. The database gives a bounded number
//! of bytes per call, and says so.

use hostile::{Failure, Guest, SqlError, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000)
                    SELECT i, printf('%01000d', i) FROM n";
        let mut kept = Vec::new();
        let mut limits = 0;
        for _ in 0..100 {
            match tx.query(many, &[]) {
                Ok(rows) => kept.push(rows),
                Err(SqlError::Limit(_)) => limits += 1,
                Err(other) => return Err(other.into()),
            }
        }
        Ok(format!(
            "{{\"answers\":{},\"limits\":{limits}}}",
            kept.len()
        ))
    }
}
