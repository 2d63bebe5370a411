//! Uses a handle that is good, but of something else, as the transaction. The call ends.

use std::mem::ManuallyDrop;

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, tx: &Transaction) -> Result<String, Failure> {
        let stream = wasip2::cli::stdout::get_stdout();
        let handle = stream.handle().max(tx.handle() + 1);
        let forged = ManuallyDrop::new(unsafe { Transaction::from_handle(handle) });
        Ok(format!(
            "{:?}",
            format!("{:?}", forged.query("SELECT 1", &[]))
        ))
    }
}
