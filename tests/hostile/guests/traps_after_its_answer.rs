//! Answers, and traps when the host lets it free the answer. The call ends: an answer whose call did not end well is none.

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
            core::arch::wasm32::unreachable()
        }
    }
}
