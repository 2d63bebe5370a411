//! Answers with a case that the contract does not have. The call ends.

use hostile::{Guest, RawAnswer, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn check_task() -> *const RawAnswer {
        RawAnswer::of_case(7).kept()
    }
}
