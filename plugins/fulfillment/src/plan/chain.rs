//! The steps form one chain: unique ids, each step after the one before it.

use std::collections::BTreeSet;

use super::Step;
use crate::violation::{Violation, quoted};

pub(super) fn faults(steps: &[Step]) -> Vec<Violation> {
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    let mut previous: Option<&Step> = None;
    for step in steps {
        if !ids.insert(&step.id) {
            let message = format!("another step has the id {} already", quoted(&step.id));
            faults.push(Violation::new("duplicate-step-id", message).at(&step.id));
        }
        if !step.depends_on.iter().eq(previous.map(|step| &step.id)) {
            let rule = previous.map_or("nothing".to_owned(), |step| quoted(&step.id));
            let message = format!("the step must depend on {rule} alone");
            faults.push(Violation::new("wrong-depends-on", message).at(&step.id));
        }
        previous = Some(step);
    }
    faults
}
