//! Halves of characters, which are no text. They are refused.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(task: &Task, _: &Transaction) -> Result<String, Failure> {
        match &*task.goal {
            "high" => Ok(r#""\ud800""#.into()),
            "low" => Ok(r#"{"a": "\udc00"}"#.into()),
            "swapped" => Ok(r#""\udc00\ud800""#.into()),
            _ => Ok("{}".into()),
        }
    }
}
