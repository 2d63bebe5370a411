//! Sleeps for a hundred years. Time is virtual: it wakes at once, and a hundred years older.

use std::thread;
use std::time::{Duration, Instant};

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let before = Instant::now();
        thread::sleep(CENTURY);
        Ok(format!("slept {}", before.elapsed() >= CENTURY))
    }
}

const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
