//! Subjects that are too long, blank, or end early for readers in C. None is a subject.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(task: &Task) -> Result<String, Vec<Violation>> {
        Ok(match &*task.goal {
            "empty" => String::new(),
            "nul" => "subject\0".into(),
            _ => "s".repeat(201),
        })
    }
}
