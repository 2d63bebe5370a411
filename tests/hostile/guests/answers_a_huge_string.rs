//! A subject of 50 MB, within the plugin's memory. The host does not copy it.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Ok("x".repeat(50_000_000))
    }
}
