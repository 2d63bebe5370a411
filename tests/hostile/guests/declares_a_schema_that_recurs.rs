//! A schema that refers to itself by way of another. It is not loaded.

use hostile::{Descriptor, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        descriptor.input_schema =
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##.into();
    }
}
