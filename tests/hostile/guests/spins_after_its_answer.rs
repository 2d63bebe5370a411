//! Answers at once, and spins when the host lets it free the answer. The call ends by the deadline: an answer whose call
//! did not end is none.

use hostile::{Guest, RawGuest, spin};

struct Attack;
hostile::export_raw!(Attack);

impl Guest for Attack {}

impl RawGuest for Attack {
    fn after_its_answer() {
        spin()
    }
}
