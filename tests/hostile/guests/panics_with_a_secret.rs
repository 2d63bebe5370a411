//! Panics with a password in the text. The text is told without it, and it is kept nowhere: not in the journal, not in a
//! report.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(_: &Task, _: &Step, _: &Transaction) -> Result<Answer, Failure> {
        panic!("no connection to redis://user:{PASSWORD}@host/0")
    }
}

const PASSWORD: &str = "hunter2-of-the-zoo";
