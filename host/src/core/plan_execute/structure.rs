//! What the host checks of every plan, whatever the domain. All violations are listed at once.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::core::{
    contract::{Plan, Violation},
    ports::domain::Declared,
    request::is_text,
};

/// Every structural fault of a plan.
#[must_use]
pub fn check(declared: &dyn Declared, plan: &Plan) -> Vec<Violation> {
    let descriptor = declared.descriptor();
    let mut arguments = declared.arguments_check();
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
                    (Some(_), Some(given)) => match given.value() {
                        object @ Value::Object(_) => {
                            for message in arguments.faults(&tool.name, &object) {
                                fault("invalid-arguments", id, message);
                            }
                        }
                        _ => fault(
                            "invalid-arguments",
                            id,
                            "arguments must be a JSON object".to_owned(),
                        ),
                    },
                    (None, None) => (),
                }
            }
        }
        earlier.insert(&step.id);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        core::{
            contract::{Descriptor, Effect, Tool},
            ports::domain::ArgumentsCheck,
        },
        words::json::JsonText,
    };

    struct Painter(Descriptor);

    impl Declared for Painter {
        fn descriptor(&self) -> &Descriptor {
            &self.0
        }

        fn arguments_check(&self) -> Box<dyn ArgumentsCheck + '_> {
            Box::new(NoGreen)
        }
    }

    struct NoGreen;

    impl ArgumentsCheck for NoGreen {
        fn faults(&mut self, tool: &str, arguments: &Value) -> Vec<String> {
            assert_eq!(tool, "mix", "only a tool that takes arguments is asked for");
            let green = |(name, value): (&String, &Value)| {
                (value == "green").then(|| format!("{name} is green"))
            };
            let members = arguments.as_object().unwrap();
            members.iter().filter_map(green).collect()
        }
    }

    fn descriptor() -> Descriptor {
        let tool = |name: &str, arguments: Option<Value>| Tool {
            name: name.to_owned(),
            description: String::new(),
            effect: Effect::Write,
            postcondition: format!("{name}ed"),
            arguments: arguments.map(|schema| JsonText::of(&schema)),
        };
        Descriptor {
            name: "painter".to_owned(),
            version: "1".to_owned(),
            instructions: String::new(),
            input_schema: JsonText::of(&json!({})),
            tools: vec![
                tool("paint", None),
                tool("mix", Some(json!({"type": "object"}))),
            ],
            migrations: Vec::new(),
            max_steps: 3,
        }
    }

    fn step(id: &str, tool: &str, depends_on: &[&str]) -> Value {
        json!({"id": id, "tool": tool, "dependsOn": depends_on, "expected": format!("{tool}ed")})
    }

    fn codes(steps: Value) -> Vec<String> {
        let plan = json!({"goal": "g", "status": "ready", "reason": "r", "steps": steps});
        let plan: Plan = serde_json::from_value(plan).unwrap();
        check(&Painter(descriptor()), &plan)
            .into_iter()
            .map(|violation| violation.code)
            .collect()
    }

    #[test]
    fn a_plan_in_order_has_no_violation() {
        let mut mix = step("b", "mix", &["a"]);
        mix["arguments"] = json!({"colour": "red"});
        assert!(codes(json!([step("a", "paint", &[]), mix])).is_empty());
        assert!(
            codes(json!([])).is_empty(),
            "whether an empty plan is valid is the plugin's to say"
        );
    }

    #[test]
    fn each_fault_of_structure_has_its_code() {
        let with = |key: &str, value: Value| {
            let mut step = step("a", "paint", &[]);
            step[key] = value;
            json!([step])
        };
        let cases = [
            (
                json!([step("a", "paint", &[]), step("a", "paint", &[])]),
                "duplicate-step",
            ),
            (json!([step("a", "paint", &["a"])]), "self-dependency"),
            (json!([step("a", "paint", &["z"])]), "unknown-dependency"),
            (
                json!([step("a", "paint", &["b"]), step("b", "paint", &[])]),
                "late-dependency",
            ),
            (
                json!([step("a", "paint", &[]), step("b", "paint", &["a", "a"])]),
                "duplicate-dependency",
            ),
            (json!([step("a", "sand", &[])]), "unknown-tool"),
            (with("expected", json!("dry")), "wrong-expected"),
            (with("arguments", json!({})), "unexpected-arguments"),
            (json!([step("a", "mix", &[])]), "missing-arguments"),
            (
                json!(
                    (0..4)
                        .map(|at| step(&format!("s{at}"), "paint", &[]))
                        .collect::<Vec<_>>()
                ),
                "too-many-steps",
            ),
        ];
        for (steps, code) in cases {
            assert_eq!(codes(steps.clone()), [code], "{steps}");
        }
        let mut mix = step("a", "mix", &[]);
        mix["arguments"] = json!([1]);
        assert_eq!(codes(json!([mix])), ["invalid-arguments"]);
    }

    #[test]
    fn each_fault_of_a_steps_arguments_is_listed_in_the_order_of_the_steps() {
        let mut mix = step("a", "mix", &[]);
        mix["arguments"] = json!({"first": "green", "second": "red", "third": "green"});
        let found = codes(json!([mix, step("b", "sand", &[])]));
        assert_eq!(
            found,
            ["invalid-arguments", "invalid-arguments", "unknown-tool"]
        );
    }

    #[test]
    fn a_cycle_is_refused_at_each_of_its_late_dependencies() {
        assert_eq!(
            codes(json!([
                step("a", "paint", &["b"]),
                step("b", "paint", &["a"])
            ])),
            ["late-dependency"]
        );
    }

    #[test]
    fn all_violations_are_listed_at_once() {
        let found = codes(json!([step("a", "sand", &["a"]), step("a", "mix", &["z"])]));
        assert_eq!(
            found,
            [
                "self-dependency",
                "unknown-tool",
                "duplicate-step",
                "unknown-dependency",
                "missing-arguments"
            ]
        );
    }
}
