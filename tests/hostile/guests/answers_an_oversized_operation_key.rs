//! Keys that are too long, blank, or end early for readers in C. None is a key.

use hostile::{Guest, Task};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn operation_key(task: &Task, tool: &str) -> Option<String> {
        Some(match tool {
            "look" => String::new(),
            _ if task.goal == "nul" => "add\0".into(),
            _ => "k".repeat(201),
        })
    }
}
