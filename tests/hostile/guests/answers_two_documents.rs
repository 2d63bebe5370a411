//! More than one document, or a document and something behind it. It is refused.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(task: &Task, _: &Transaction) -> Result<String, Failure> {
        match &*task.goal {
            "two" => Ok("{} {}".into()),
            "behind" => Ok("{}x".into()),
            "none" => Ok("".into()),
            "mark" => Ok("\u{feff}{}".into()),
            "comment" => Ok("{} // done".into()),
            _ => Ok("{}".into()),
        }
    }
}
