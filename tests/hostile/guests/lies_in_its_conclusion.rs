//! Claims another result than the steps had. The report says what the plugin claims; ledger, rows and evidence say what was
//! done.

use hostile::{Completed, Conclusion, Guest, Task, Violation, honest};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn conclude(_: &Task, _: &str, completed: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
        let mut conclusion = honest::conclude(completed)?;
        conclusion.result = r#"{"steps": 1000, "things": 1000}"#.into();
        Ok(conclusion)
    }
}
