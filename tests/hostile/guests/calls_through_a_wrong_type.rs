//! Calls a function as if it were of another type. The call ends in a trap.

use std::hint::black_box;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let of_one: fn(u64) -> u64 = |number| number + 1;
        let address = black_box(of_one as usize);
        // The very fault that is meant.
        let of_two: fn(f64, f64) -> f64 = unsafe { std::mem::transmute(address) };
        Ok(black_box(of_two)(1.0, 2.0).to_string())
    }
}
