//! What the host checks of every plan, whatever the domain. All violations are listed at once.

use std::collections::BTreeSet;

use crate::core::{
    contract::{Descriptor, Plan, Violation},
    request::is_text,
};

/// Every structural fault of a plan.
#[must_use]
pub fn check(descriptor: &Descriptor, plan: &Plan) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut fault = |code: &str, step: Option<&str>, message: String| {
        found.push(Violation {
            code: code.to_owned(),
            message,
            step_id: step.map(str::to_owned),
        });
    };
    for (name, text) in [("goal", &plan.goal), ("reason", &plan.reason)] {
        if !is_text(text) {
            fault(
                "text-out-of-bounds",
                None,
                format!(
                    "the plan's {name} must have 1 to 1000 characters, not be blank and hold no NUL"
                ),
            );
        }
    }
    if plan.steps.len() > descriptor.max_steps as usize {
        fault(
            "too-many-steps",
            None,
            format!(
                "the plan has {} steps, the plugin allows {}",
                plan.steps.len(),
                descriptor.max_steps
            ),
        );
    }
    let all: BTreeSet<_> = plan.steps.iter().map(|step| &step.id).collect();
    let mut earlier = BTreeSet::new();
    for step in &plan.steps {
        let id = Some(step.id.as_str());
        if earlier.contains(&step.id) {
            fault(
                "duplicate-step",
                id,
                format!("the step id `{}` stands twice", step.id),
            );
        }
        let mut named = BTreeSet::new();
        for dependency in &step.depends_on {
            if !named.insert(dependency) {
                fault(
                    "duplicate-dependency",
                    id,
                    format!("the step names `{dependency}` twice"),
                );
            } else if *dependency == step.id {
                fault(
                    "self-dependency",
                    id,
                    "the step depends on itself".to_owned(),
                );
            } else if !all.contains(dependency) {
                fault(
                    "unknown-dependency",
                    id,
                    format!("the step depends on `{dependency}`, which is no step of the plan"),
                );
            } else if !earlier.contains(dependency) {
                fault(
                    "late-dependency",
                    id,
                    format!("the step depends on `{dependency}`, which comes after it"),
                );
            }
        }
        match descriptor.tool(&step.tool) {
            None => fault(
                "unknown-tool",
                id,
                format!("the plugin has no tool `{}`", step.tool.escape_debug()),
            ),
            Some(tool) => {
                if step.expected != tool.postcondition {
                    fault(
                        "wrong-expected",
                        id,
                        format!(
                            "`{}` leads to `{}`, not to `{}`",
                            tool.name,
                            tool.postcondition,
                            step.expected.escape_debug()
                        ),
                    );
                }
                match (&tool.arguments, &step.arguments) {
                    (None, Some(_)) => fault(
                        "unexpected-arguments",
                        id,
                        format!("`{}` takes no arguments", tool.name),
                    ),
                    (Some(_), None) => fault(
                        "missing-arguments",
                        id,
                        format!("`{}` takes arguments", tool.name),
                    ),
                    (Some(_), Some(given)) if !given.value().is_object() => fault(
                        "invalid-arguments",
                        id,
                        "arguments must be a JSON object".to_owned(),
                    ),
                    _ => (),
                }
            }
        }
        earlier.insert(&step.id);
    }
    found
}
