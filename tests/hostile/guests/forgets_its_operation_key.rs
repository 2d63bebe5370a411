//! A tool that writes and has no key would write again with each attempt. It is a fault.

use hostile::{Guest, Task};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn operation_key(_: &Task, _: &str) -> Option<String> {
        None
    }
}
