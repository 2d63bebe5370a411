//! A name that leads out of the folder that is named after the plugin. It is not loaded.

use hostile::{Descriptor, Guest, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn describe() -> Descriptor {
        let mut descriptor = honest::describe();
        descriptor.name = "../../elsewhere".into();
        descriptor
    }
}
