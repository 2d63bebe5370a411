//! Calls the host while the host is handing over the arguments. The canonical ABI forbids it, and the call ends.

use std::alloc::{GlobalAlloc as _, System};

use hostile::{Allocator, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(|layout| {
    wasip2::clocks::monotonic_clock::now();
    unsafe { System.alloc(layout) }
});
