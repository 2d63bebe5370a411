//! Artifacts whose names lead out of their folder, as the goal says. None is a name.

use hostile::{Conclusion, Guest, Task, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn reconclude(task: &Task, conclusion: &mut Conclusion) {
        conclusion.artifacts = vec![honest::artifact(&task.goal)];
    }
}
