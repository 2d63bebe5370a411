//! Calls itself without end. The call ends when its stack is used up, and the host's is not.

use std::hint::black_box;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Ok(descend(1).to_string())
    }
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    if black_box(depth) == u64::MAX {
        return depth;
    }
    descend(depth + 1).wrapping_add(black_box(depth))
}
