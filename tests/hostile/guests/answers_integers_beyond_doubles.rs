//! Integers that not every reader of JSON reads alike: beyond 2^53. They are refused.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(task: &Task, _: &Transaction) -> Result<String, Failure> {
        match &*task.goal {
            "above" => Ok("9007199254740992".into()),
            "below" => Ok("-9007199254740992".into()),
            "huge" => Ok(r#"[18446744073709551616]"#.into()),
            "real" => Ok("9007199254740993.0".into()),
            _ => Ok("{}".into()),
        }
    }
}
