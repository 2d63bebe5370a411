//! Counts its calls, and hopes that a call sees what another has left, even one that has trapped. Each finds a fresh
//! counter.

use std::sync::atomic::{AtomicU64, Ordering};

use hostile::{Guest, Plan, Task, Violation, spin, violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(task: &Task) -> Result<String, Vec<Violation>> {
        let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        match &*task.goal {
            "trap" => core::arch::wasm32::unreachable(),
            "spin" => spin(),
            _ => Ok(calls.to_string()),
        }
    }

    fn check_plan(_: &Task, _: &str, _: &Plan) -> Result<(), Vec<Violation>> {
        // The candidates of one search share a sandbox, so here alone the counter goes up.
        if CALLS.fetch_add(1, Ordering::Relaxed) == 2 {
            core::arch::wasm32::unreachable();
        }
        Err(vec![violation("not-yet", "the third will trap")])
    }
}

static CALLS: AtomicU64 = AtomicU64::new(0);
