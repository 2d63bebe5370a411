//! A schema that refers to itself by way of another. It is not loaded.

use hostile::{Descriptor, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn describe() -> Descriptor {
        let mut descriptor = honest::describe();
        descriptor.input_schema =
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##.into();
        descriptor
    }
}
