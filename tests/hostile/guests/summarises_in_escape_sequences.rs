//! A summary that a terminal would obey, or of more lines than one. It is refused.

use hostile::{Conclusion, Guest, Task};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn reconclude(task: &Task, conclusion: &mut Conclusion) {
        conclusion.summary = match &*task.goal {
            "lines" => "Done.\nerror[forged]: nothing is done".into(),
            "blank" => " ".into(),
            _ => "\u{1b}[2J\u{1b}]0;owned\u{7}Done.".into(),
        };
    }
}
