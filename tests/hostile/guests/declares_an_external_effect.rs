//! Declares a tool that calls outside systems, which this contract reserves. It is not loaded.

use hostile::{Descriptor, Effect, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        descriptor
            .tools
            .push(honest::tool("call", Effect::External, "called"));
    }
}
