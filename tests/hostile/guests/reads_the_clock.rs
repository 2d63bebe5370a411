//! Asks for the time, to measure the host or to answer differently tomorrow. The date is the same in every sandbox, and so
//! is what passes.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let before = Instant::now();
        for number in 0..1_000_000_u32 {
            std::hint::black_box(number);
        }
        let passed = before.elapsed();
        let date = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map(|date| date.as_secs());
        Ok(format!("date {date:?} passed {passed:?}"))
    }
}
