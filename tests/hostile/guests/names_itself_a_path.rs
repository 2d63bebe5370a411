//! A name that leads out of the folder that is named after the plugin. It is not loaded.

use hostile::{Descriptor, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        descriptor.name = "../../elsewhere".into();
    }
}
