//! Reads beyond its memory. The call ends in a trap; nothing of the host is there to be read.

use std::hint::black_box;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let beyond = black_box(0xffff_fff0_usize) as *const u64;
        Ok(unsafe { beyond.read_unaligned() }.to_string())
    }
}
