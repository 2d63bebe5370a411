//! Violations and failures that a terminal would obey. They are shown escaped.

use hostile::{Failure, Guest, Plan, Task, Transaction, Violation, violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(task: &Task) -> Result<String, Vec<Violation>> {
        if task.goal == "admit" {
            return Ok("subject".into());
        }
        Err(vec![violation("\u{1b}[31mcode", EVIL)])
    }

    fn check_plan(_: &Task, _: &str, _: &Plan) -> Result<(), Vec<Violation>> {
        Err(vec![violation("\u{1b}[31mcode", EVIL)])
    }

    fn snapshot(_: &Task, _: &Transaction) -> Result<String, Failure> {
        Err(Failure::Rejected(EVIL.into()))
    }
}

const EVIL: &str = "\u{1b}[2J\u{1b}]8;;http://evil\u{7}here\u{9b}31m\r\nerror[forged]: all is well";
