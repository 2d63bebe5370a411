//! A subject that is no UTF-8. The host has no such strings.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Ok(unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe]) })
    }
}
