//! Changes rows while it is asked to look. The database denies it.

use hostile::{Failure, Guest, SqlError, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        match tx.execute("INSERT INTO things (id) VALUES ('sneaked in')", &[]) {
            Err(SqlError::Denied(_)) => Ok("\"denied\"".into()),
            other => Ok(format!("{:?}", format!("{other:?}"))),
        }
    }
}
