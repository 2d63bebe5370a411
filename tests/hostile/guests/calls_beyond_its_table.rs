//! Calls a function at an address where there is none. The call ends in a trap.

use std::hint::black_box;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let address = black_box(0x00ff_ffff_usize);
        // The very fault that is meant.
        let nothing: fn() -> u64 = unsafe { std::mem::transmute(address) };
        Ok(black_box(nothing)().to_string())
    }
}
