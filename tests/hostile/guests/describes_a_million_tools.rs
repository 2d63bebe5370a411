//! A descriptor with a million tools. It is not loaded.

use hostile::{Descriptor, Effect, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        descriptor.tools = vec![honest::tool("", Effect::Read, ""); 300_000];
    }
}
