//! Log lines and output that a terminal would obey, and that forge lines of the host's. They are shown escaped, on one line
//! each.

use hostile::{Guest, Task, Violation, log};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let evil = "\u{1b}[2J\u{1b}[31mred\u{9b}1m\r\nerror[forged]: all is well\u{202e}";
        log::write(log::Level::Error, evil);
        println!("{evil}");
        eprintln!("{evil}");
        Ok("subject".into())
    }
}
