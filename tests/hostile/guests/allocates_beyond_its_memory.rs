//! Sends the host's arguments to an address that is not there. The call ends, and nothing is written anywhere.

use hostile::{Allocator, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(|_| 0xffff_ff00_usize as *mut u8);
