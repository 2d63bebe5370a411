//! An artifact that would replace the report, in any spelling that some file system takes for the same. It is refused.

use hostile::{Conclusion, Guest, Task, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn reconclude(task: &Task, conclusion: &mut Conclusion) {
        conclusion.artifacts = vec![honest::artifact(&task.goal)];
    }
}
