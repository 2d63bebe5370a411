//! More artifacts than a conclusion may have. They are refused.

use hostile::{Completed, Conclusion, Guest, Task, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn conclude(_: &Task, _: &str, completed: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        conclusion.artifacts = (0..17)
            .map(|n| honest::artifact(&format!("thing-{n}")))
            .collect();
        Ok(conclusion)
    }
}
