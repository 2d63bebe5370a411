//! Takes handles from the host and drops none. The call ends at the limit of handles.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        loop {
            std::mem::forget(wasip2::clocks::monotonic_clock::subscribe_duration(1));
        }
    }
}
