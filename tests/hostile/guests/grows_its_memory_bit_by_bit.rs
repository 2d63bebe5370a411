//! Takes memory page by page, past its own allocator, and writes to each. The call ends at the plugin's limit of memory.

use core::arch::wasm32::memory_grow;

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        loop {
            let page = memory_grow::<0>(1);
            if page == usize::MAX {
                return Ok("the host refused, and did not end the call".into());
            }
            unsafe { ((page * 65_536) as *mut [u8; 65_536]).write([1; 65_536]) };
        }
    }
}
