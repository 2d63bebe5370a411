//! A descriptor with a million tools. It is not loaded.

use hostile::{Descriptor, Effect, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn describe() -> Descriptor {
        let mut descriptor = honest::describe();
        descriptor.tools = vec![honest::tool("", Effect::Read, ""); 300_000];
        descriptor
    }
}
