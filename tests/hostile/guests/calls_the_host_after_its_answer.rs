//! Answers, and calls the host when it may only free the answer. The canonical ABI forbids it, and the call ends.

use hostile::{Guest, RawAnswer, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn check_task() -> *const RawAnswer {
        RawAnswer::of_case(0).kept()
    }

    fn after(answer: RawAnswer) {
        // An honest answer was allocated, this one is in the program.
        if answer.address == RawAnswer::of_case(0).address {
            wasip2::clocks::monotonic_clock::now();
        }
    }
}
