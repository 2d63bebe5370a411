//! Never answers `check-task`. The call ends by its deadline.

use hostile::{Guest, Task, Violation, spin};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        spin()
    }
}
