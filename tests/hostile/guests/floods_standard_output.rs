//! Prints without end. What is beyond the log's limit is dropped, and the calls of the host come to an end.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        loop {
            println!("{}", "x".repeat(1000));
        }
    }
}
