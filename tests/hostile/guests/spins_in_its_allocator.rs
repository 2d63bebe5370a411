//! Never gives the host the memory for the arguments of a call, so that the call proper never begins. It ends by the
//! deadline all the same.

use hostile::{Allocator, Guest, spin};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(|_| spin());
