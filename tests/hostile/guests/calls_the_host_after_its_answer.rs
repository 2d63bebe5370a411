//! Answers, and calls the host when it may only free the answer. The canonical ABI forbids it, and the call ends.

use hostile::{Guest, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn after_its_answer() {
        wasip2::clocks::monotonic_clock::now();
    }
}
