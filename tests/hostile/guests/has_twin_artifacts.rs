//! Two artifacts that are one file on some machines. They are refused.

use hostile::{Completed, Conclusion, Guest, Task, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn conclude(_: &Task, _: &str, completed: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        conclusion.artifacts = vec![
            honest::artifact("Thing.json"),
            honest::artifact("thing.JSON"),
        ];
        Ok(conclusion)
    }
}
