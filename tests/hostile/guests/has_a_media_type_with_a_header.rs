//! A media type that ends its line and begins a header of its own. It is refused.

use hostile::{Completed, Conclusion, Guest, Task, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn conclude(_: &Task, _: &str, completed: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        conclusion.artifacts[0].media_type = "text/plain\r\nSet-Cookie: a=b".into();
        Ok(conclusion)
    }
}
