//! Never comes to its first export: a static initialiser, as C++ has them, loops for ever. Loading ends by the deadline of
//! a call.

use hostile::{Guest, spin};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {}

#[used]
#[unsafe(link_section = ".init_array")]
static INITIALISER: extern "C" fn() = initialise;

extern "C" fn initialise() {
    spin()
}
