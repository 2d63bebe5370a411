//! Executes the instruction that must not be executed, without a word. The call ends in a trap that says so.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        core::arch::wasm32::unreachable()
    }
}
