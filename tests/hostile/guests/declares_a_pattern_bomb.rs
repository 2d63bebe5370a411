//! A schema with patterns that take for ever, or memory without end, in readers that backtrack or unfold. It is not loaded.

use hostile::{Descriptor, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn describe() -> Descriptor {
        let mut descriptor = honest::describe();
        descriptor.tools[0].arguments = Some(
            r#"{"properties": {"a": {"pattern": "((((a{0,1000}){0,1000}){0,1000}){0,1000})+$"}}}"#
                .into(),
        );
        descriptor
    }
}
