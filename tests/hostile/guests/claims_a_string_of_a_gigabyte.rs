//! A subject that is a GiB long by its own account, most of which is not there. The host believes it not.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let text = "x".repeat(1000);
        let text = std::mem::ManuallyDrop::new(text);
        // The very fault that is meant.
        Ok(unsafe { String::from_raw_parts(text.as_ptr().cast_mut(), 1 << 30, 1 << 30) })
    }
}
