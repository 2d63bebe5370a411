//! A pattern with a back-reference, which only a backtracking reader can follow. It is not loaded.

use hostile::{Descriptor, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn describe() -> Descriptor {
        let mut descriptor = honest::describe();
        descriptor.tools[0].arguments =
            Some(r#"{"properties": {"a": {"pattern": "^(a+)+\\1$"}}}"#.into());
        descriptor
    }
}
