//! Panics, and again while the text of the panic is made. The call ends once.

use std::fmt;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        panic!("{Trap}")
    }
}

struct Trap;

impl fmt::Display for Trap {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("the second panic")
    }
}
