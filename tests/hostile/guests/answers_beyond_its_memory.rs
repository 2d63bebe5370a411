//! Answers at an address that is not there. The call ends, and nothing of the host is read.

use hostile::{Guest, RawAnswer, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn check_task() -> *const RawAnswer {
        0xffff_fff0_usize as *const RawAnswer
    }
}
