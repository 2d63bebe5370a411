//! NUL in a snapshot: raw it is no JSON, escaped it is text like any other and comes back as it was written.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(task: &Task, _: &Transaction) -> Result<String, Failure> {
        match &*task.goal {
            "raw" => Ok("\"a\u{0}b\"".into()),
            "escaped" => Ok(r#""a\u0000b""#.into()),
            "behind" => Ok("{}\u{0}".into()),
            _ => Ok("{}".into()),
        }
    }
}
