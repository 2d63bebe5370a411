//! Makes up handles of transactions that it was never given, also where no transaction is open. Each ends the call.

use std::mem::ManuallyDrop;

use hostile::{Failure, Guest, Task, Transaction, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(task: &Task) -> Result<String, Vec<Violation>> {
        let number = task.goal.parse().unwrap_or(1);
        let forged = ManuallyDrop::new(unsafe { Transaction::from_handle(number) });
        Ok(format!("{:?}", forged.query("SELECT 1", &[])))
    }

    fn snapshot(task: &Task, tx: &Transaction) -> Result<String, Failure> {
        let number = tx.handle() + task.goal.parse::<u32>().unwrap_or(1);
        let forged = ManuallyDrop::new(unsafe { Transaction::from_handle(number) });
        Ok(format!(
            "{:?}",
            format!("{:?}", forged.query("SELECT 1", &[]))
        ))
    }
}
