//! An artifact that would replace the report, in any spelling that some file system takes for the same. It is refused.

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
