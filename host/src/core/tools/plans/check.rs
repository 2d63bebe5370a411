//! What makes a plan acceptable. A plan with any fault is refused whole, and the stored one stays.

use std::{collections::HashMap, num::NonZeroUsize};

use super::plan::{SharedPlan, StepStatus};
use crate::{
    core::{request::is_text, tools::error::ToolError},
    words::{escape::excerpt, id::is_identifier},
};

/// The most faults that are told; the first ones.
const MAX_FAULTS: usize = 20;

/// What a runtime allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRules {
    /// Steps that may be in progress at once.
    pub in_progress: NonZeroUsize,
}

impl PlanRules {
    /// The most steps of a plan.
    pub const MAX_STEPS: usize = 200;
    /// One step in progress.
    pub const STANDARD: Self = Self {
        in_progress: NonZeroUsize::MIN,
    };

    /// Every fault of the plan at once.
    pub(super) fn check(self, plan: &SharedPlan) -> Result<(), ToolError> {
        let mut faults = self.faults(plan);
        if faults.is_empty() {
            return Ok(());
        }
        if faults.len() > MAX_FAULTS {
            let more = faults.len() - MAX_FAULTS;
            faults.truncate(MAX_FAULTS);
            faults.push(format!("and {more} more"));
        }
        let message = format!("the plan is refused: {}", faults.join("; "));
        Err(ToolError::new("invalid-plan", message).with("faults", faults))
    }

    fn faults(self, plan: &SharedPlan) -> Vec<String> {
        let steps = &plan.steps;
        if steps.len() > Self::MAX_STEPS {
            return vec![format!(
                "it has {} steps, {} are allowed",
                steps.len(),
                Self::MAX_STEPS
            )];
        }
        let mut faults = Vec::new();
        let mut places = HashMap::new();
        for (place, step) in steps.iter().enumerate() {
            let id = excerpt(&step.id, 80);
            if !is_identifier(&step.id) {
                faults.push(format!(
                    "the id {id:?} is not 1 to 80 letters, digits, `_` or `-` of ASCII"
                ));
            }
            if places.insert(step.id.as_str(), place).is_some() {
                faults.push(format!("the id `{id}` stands twice"));
            }
            if !is_text(&step.title) {
                faults.push(format!(
                    "the title of `{id}` is not 1 to 1000 characters, or is blank"
                ));
            }
            if step.note.as_ref().is_some_and(|note| !is_text(note)) {
                faults.push(format!(
                    "the note of `{id}` is not 1 to 1000 characters, or is blank"
                ));
            }
        }
        for step in steps {
            for before in &step.depends_on {
                if !places.contains_key(before.as_str()) {
                    faults.push(format!(
                        "`{}` depends on `{}`, which is no step of the plan",
                        excerpt(&step.id, 80),
                        excerpt(before, 80)
                    ));
                }
            }
        }
        if let Some(id) = in_a_cycle(plan, &places) {
            faults.push(format!("`{}` depends on itself", excerpt(id, 80)));
        }
        let running = steps
            .iter()
            .filter(|step| step.status == StepStatus::InProgress)
            .count();
        if running > self.in_progress.get() {
            faults.push(format!(
                "{running} steps are in progress, {} may be",
                self.in_progress
            ));
        }
        faults
    }
}

/// A step of the plan that its own dependencies lead back to, or that depends on such a one.
fn in_a_cycle<'p>(plan: &'p SharedPlan, places: &HashMap<&str, usize>) -> Option<&'p str> {
    let mut done = vec![false; plan.steps.len()];
    loop {
        let ready = plan.steps.iter().enumerate().find(|(place, step)| {
            !done[*place]
                && step
                    .depends_on
                    .iter()
                    .all(|before| places.get(before.as_str()).is_none_or(|at| done[*at]))
        });
        match ready {
            Some((place, _)) => done[place] = true,
            None => break,
        }
    }
    let left = done.iter().position(|done| !done)?;
    Some(&plan.steps[left].id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn faults(steps: Value) -> String {
        let plan = serde_json::from_value(json!({ "steps": steps })).unwrap();
        PlanRules::STANDARD
            .check(&plan)
            .err()
            .map_or_else(String::new, |error| error.message)
    }

    fn step(id: &str, status: &str, before: &[&str]) -> Value {
        json!({"id": id, "title": "T", "status": status, "dependsOn": before})
    }

    #[test]
    fn a_plan_that_holds_is_accepted() {
        assert_eq!(faults(json!([])), "");
        assert_eq!(
            faults(json!([
                step("b", "in_progress", &["a"]),
                step("a", "completed", &[]),
                step("c", "pending", &["a", "b"]),
            ])),
            ""
        );
    }

    #[test]
    fn every_fault_of_a_plan_is_told_at_once() {
        let told = faults(json!([
            step("a", "in_progress", &["c"]),
            step("a", "in_progress", &[]),
            step("c", "pending", &["a", "x"]),
            step("d e", "pending", &["d e"]),
            json!({"id": "f", "title": " ", "status": "pending", "note": ""}),
        ]));
        for fault in [
            "`a` stands twice",
            "depends on `x`",
            "\"d e\" is not",
            "title of `f`",
            "note of `f`",
            "2 steps are in progress",
            "depends on itself",
        ] {
            assert!(told.contains(fault), "{fault}: {told}");
        }
    }

    #[test]
    fn a_cycle_is_found_whatever_hangs_on_it() {
        assert!(faults(json!([step("a", "pending", &["a"])])).contains("`a` depends on itself"));
        let cycle = json!([
            step("a", "pending", &[]),
            step("b", "pending", &["c"]),
            step("c", "pending", &["b"]),
        ]);
        assert!(faults(cycle).contains("depends on itself"));
    }

    #[test]
    fn a_runtime_may_allow_more_steps_in_progress() {
        let rules = PlanRules {
            in_progress: NonZeroUsize::new(2).unwrap(),
        };
        let plan = |count: usize| SharedPlan {
            steps: (0..count)
                .map(|n| {
                    serde_json::from_value(step(&format!("s{n}"), "in_progress", &[])).unwrap()
                })
                .collect(),
        };
        assert!(rules.check(&plan(2)).is_ok());
        assert!(rules.check(&plan(3)).is_err());
    }

    #[test]
    fn what_is_told_is_bounded() {
        let before: Vec<_> = (0..80_000).map(|n| format!("x{n}")).collect();
        let before: Vec<_> = before.iter().map(String::as_str).collect();
        let told = faults(json!([step("a", "pending", &before)]));
        assert!(
            told.len() < 4000 && told.contains("and 79980 more"),
            "{told}"
        );
    }

    #[test]
    fn the_number_of_steps_is_bounded() {
        let steps = |count: usize| {
            (0..count)
                .map(|n| step(&format!("s{n}"), "pending", &[]))
                .collect()
        };
        assert_eq!(faults(Value::Array(steps(PlanRules::MAX_STEPS))), "");
        assert!(faults(Value::Array(steps(PlanRules::MAX_STEPS + 1))).contains("201 steps"));
    }
}
