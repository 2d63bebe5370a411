//! Looks at the calendar until the year is over. The date never changes, and each look is a call of the host: they come to
//! an end.

use std::time::SystemTime;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let started = SystemTime::now();
        while SystemTime::now() <= started {}
        Ok("a later year".into())
    }
}
