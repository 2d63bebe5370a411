//! A pattern with a back-reference, which only a backtracking reader can follow. It is not loaded.

use hostile::{Descriptor, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        descriptor.tools[0].arguments =
            Some(r#"{"properties": {"a": {"pattern": "^(a+)+\\1$"}}}"#.into());
    }
}
