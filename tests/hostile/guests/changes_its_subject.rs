//! Tries to name another subject in each call, so that nothing is ever done twice on the same one. It finds nothing that
//! differs.

use hostile::{Guest, Task, Violation, anything_new};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Ok(anything_new())
    }
}
