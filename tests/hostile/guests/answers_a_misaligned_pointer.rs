//! Answers at an odd address. The call ends.

use hostile::{Guest, RawAnswer, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn check_task() -> *const RawAnswer {
        RawAnswer::of_case(0).kept().wrapping_byte_add(1)
    }
}
