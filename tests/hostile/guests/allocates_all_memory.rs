//! A memory bomb: a list that grows until there is no more. The call ends at the plugin's limit of memory.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let mut bomb = Vec::new();
        loop {
            bomb.extend_from_slice(&[1_u8; 65_536]);
        }
    }
}
