//! Does not give its transaction back when the call ends, to use it in the next. That call ends as a fault, and its row is
//! gone.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        KEPT.store(tx.take_handle(), Ordering::Relaxed);
        Ok(honest::done("added", "{\"done\":true}"))
    }

    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let kept = KEPT.load(Ordering::Relaxed);
        let later = ManuallyDrop::new(unsafe { Transaction::from_handle(kept) });
        Ok(format!("{:?}", later.query("SELECT 1", &[])))
    }
}

static KEPT: AtomicU32 = AtomicU32::new(1);
