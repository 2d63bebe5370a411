//! Asks for random numbers by every road. They are the same in every sandbox.

use wasip2::random::{insecure, insecure_seed, random};

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Ok(format!(
            "{:?} {} {} {:?}",
            random::get_random_bytes(8),
            random::get_random_u64(),
            insecure::get_insecure_random_u64(),
            insecure_seed::insecure_seed(),
        ))
    }
}
