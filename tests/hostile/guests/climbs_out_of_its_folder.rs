//! Artifacts whose names lead out of their folder, as the goal says. None is a name.

use hostile::{Completed, Conclusion, Guest, Task, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn conclude(
        task: &Task,
        _: &str,
        completed: &[Completed],
    ) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        conclusion.artifacts = vec![honest::artifact(&task.goal)];
        Ok(conclusion)
    }
}
