//! An artifact of more than a MiB. It is refused.

use hostile::{Completed, Conclusion, Guest, Task, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn conclude(_: &Task, _: &str, completed: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        conclusion.artifacts[0].content = vec![b' '; (1 << 20) + 1];
        Ok(conclusion)
    }
}
