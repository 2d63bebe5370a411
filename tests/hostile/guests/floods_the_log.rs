//! Logs without end. The call ends at the limit of its log.

use hostile::{Guest, Task, Violation, log};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        loop {
            log::write(log::Level::Info, &"x".repeat(1000));
        }
    }
}
