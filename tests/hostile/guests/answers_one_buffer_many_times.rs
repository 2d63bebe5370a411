//! A list of 100,000 violations that share one message of a MiB: next to nothing in the plugin, 100 GB if the host copied
//! each.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let buffer = "x".repeat(1 << 20).leak();
        let alias = || Violation {
            code: String::new(),
            // Nobody frees it twice: the call does not get that far.
            message: unsafe {
                String::from_raw_parts(buffer.as_mut_ptr(), buffer.len(), buffer.len())
            },
            step: None,
        };
        Err(std::iter::repeat_with(alias).take(100_000).collect())
    }
}
