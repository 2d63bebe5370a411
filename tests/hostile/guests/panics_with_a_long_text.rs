//! Panics with a text of a MiB. The error carries its beginning.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        panic!("it begins so: {}", "x".repeat(1 << 20))
    }
}
