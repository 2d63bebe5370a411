//! A schema of forty lines, each of which refers twice to the next: a million million when unfolded. It is not loaded.

use hostile::{Descriptor, Guest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        let defs: Vec<String> = (0..40)
            .map(|n| {
                let next = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, n + 1);
                format!(r#""d{n}": {{"allOf": [{next}, {next}]}}"#)
            })
            .collect();
        descriptor.tools[0].arguments = Some(format!(
            r##"{{"$ref": "#/$defs/d0", "$defs": {{{}, "d40": {{"type": "string"}}}}}}"##,
            defs.join(", ")
        ));
    }
}
