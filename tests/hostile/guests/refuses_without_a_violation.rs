//! Refuses everything and says not why. That is no refusal.

use hostile::{Completed, Conclusion, Guest, Plan, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Err(Vec::new())
    }

    fn check_plan(_: &Task, _: &str, _: &Plan) -> Result<(), Vec<Violation>> {
        Err(Vec::new())
    }

    fn conclude(_: &Task, _: &str, _: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
        Err(Vec::new())
    }
}
