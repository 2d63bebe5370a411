//! A validator that never answers: neither to one plan, nor to the candidates of a search. Both end by the deadline.

use hostile::{Guest, Plan, Task, Violation, spin};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_plan(_: &Task, _: &str, _: &Plan) -> Result<(), Vec<Violation>> {
        spin()
    }
}
