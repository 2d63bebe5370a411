//! A schema with patterns that take for ever, or memory without end, in readers that backtrack or unfold. It is not loaded.

use hostile::{Descriptor, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        descriptor.tools[0].arguments = Some(
            r#"{"properties": {"a": {"pattern": "((((a{0,1000}){0,1000}){0,1000}){0,1000})+$"}}}"#
                .into(),
        );
    }
}
