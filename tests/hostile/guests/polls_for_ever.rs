//! Waits again and again for the end of time. Whatever it waits for is ready at once, and each wait is a call of the host:
//! they come to an end.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        loop {
            wasip2::clocks::monotonic_clock::subscribe_instant(u64::MAX).block();
        }
    }
}
