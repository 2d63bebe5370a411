//! Answers with a list of 2^32 - 1 violations. Their size does not fit into 32 bits; the call ends.

use hostile::{Guest, RawAnswer, RawGuest};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn check_task() -> *const RawAnswer {
        RawAnswer {
            case: 1,
            ..RawAnswer::at(16, usize::MAX)
        }
        .kept()
    }
}
