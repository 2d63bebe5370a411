//! Reads what the operator types. There is nothing.

use std::io;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let mut text = String::new();
        let read = io::stdin().read_line(&mut text);
        Ok(format!("{:?} {text:?}", read.ok()))
    }
}
