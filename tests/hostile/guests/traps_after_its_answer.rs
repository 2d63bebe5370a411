//! Answers, and traps when the host lets it free the answer. The call ends: an answer whose call did not end well is none.

use hostile::{Guest, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn after_its_answer() {
        core::arch::wasm32::unreachable()
    }
}
