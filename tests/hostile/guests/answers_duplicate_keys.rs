//! A snapshot with the same key twice, at the top, further down, and spelt in two ways: two readers would read two things.
//! It is refused.

use hostile::{Failure, Guest, Task, Transaction};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn snapshot(task: &Task, _: &Transaction) -> Result<String, Failure> {
        match &*task.goal {
            "top" => Ok(r#"{"a": 1, "a": 2}"#.into()),
            "deep" => Ok(r#"{"a": [{"b": 1, "b": 1}]}"#.into()),
            "escaped" => Ok(r#"{"a": 1, "\u0061": 2}"#.into()),
            _ => Ok("{}".into()),
        }
    }
}
