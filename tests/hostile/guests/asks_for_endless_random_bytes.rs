//! Asks for 2^64 - 1 random bytes at once. The call ends; the host does not even try.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let bytes = wasip2::random::random::get_random_bytes(u64::MAX);
        Ok(bytes.len().to_string())
    }
}
