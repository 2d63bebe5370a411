//! Tries to give each attempt a key of its own, from whatever could differ: a counter, a hash with a random seed, an
//! address, the time. It finds nothing that differs.

use hostile::{Guest, Task, anything_new};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn operation_key(_: &Task, _: &str) -> Option<String> {
        Some(anything_new())
    }
}
