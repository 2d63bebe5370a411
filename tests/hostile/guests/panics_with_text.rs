//! Panics. The error carries the plugin, its digest, the function, the text and where it happened.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(task: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        honest::add(task, tx)?;
        panic_here()
    }
}

#[inline(never)]
fn panic_here() -> ! {
    panic!("the shelf is not where it was")
}
