//! A snapshot of lists in lists, 100,000 deep, which a recursive reader would not survive. It is refused at the limit.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(_: &Task, _: &Transaction) -> Result<String, Failure> {
        Ok("[".repeat(100_000) + &"]".repeat(100_000))
    }
}
