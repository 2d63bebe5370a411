//! Calls itself with large frames, which stand in its own memory: the stack there is used up first. The call ends in a
//! trap, before the stack runs over the plugin's data.

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
fn descend(depth: usize) -> usize {
    let frame = black_box([depth; 25_000]);
    if depth == usize::MAX {
        return depth;
    }
    descend(depth + 1).wrapping_add(frame[depth % 25_000])
}
