//! Panics with a text that clears the screen, forges a line and turns the order of reading. It is shown escaped.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        panic!("\u{1b}[2J\u{1b}[31mred\u{9b}1m\r\nerror[forged]: all is well\u{202e}\u{7}")
    }
}
