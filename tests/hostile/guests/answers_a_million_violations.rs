//! A million violations without a letter in them: what costs the host is the list itself, and that is counted.

use hostile::{Guest, Task, Violation, violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Err(vec![violation("", ""); 1_000_000])
    }
}
