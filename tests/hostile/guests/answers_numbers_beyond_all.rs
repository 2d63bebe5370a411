//! Numbers that no double holds. They are refused.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(task: &Task, _: &Transaction) -> Result<String, Failure> {
        match &*task.goal {
            "nan" => Ok("NaN".into()),
            "infinity" => Ok("[-Infinity]".into()),
            "large" => Ok("1e999".into()),
            "hex" => Ok("0x10".into()),
            _ => Ok("{}".into()),
        }
    }
}
