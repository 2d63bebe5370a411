//! Changes rows in a tool that is declared to read. The database denies it, and the step is not done.

use hostile::{Answer, Failure, Guest, SqlError, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(_: &Task, step: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        match tx.execute("INSERT INTO things (id) VALUES ('sneaked in')", &[]) {
            Err(SqlError::Denied(text)) => {
                Err(Failure::Rejected(format!("denied {}", text.len() > 1)))
            }
            other => Ok(honest::done(
                &step.expected,
                &format!("{:?}", format!("{other:?}")),
            )),
        }
    }
}
