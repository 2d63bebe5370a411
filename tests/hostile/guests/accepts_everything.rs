//! A validator that accepts every plan. The host checks by itself what it can: unknown tools, other postconditions, too
//! many steps, steps that depend on nothing.

use hostile::{Guest, Plan, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_plan(_: &Task, _: &str, _: &Plan) -> Result<(), Vec<Violation>> {
        Ok(())
    }
}
