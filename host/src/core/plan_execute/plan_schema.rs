//! The form of a plan as a JSON Schema, for models whose server can hold an answer to one.
//!
//! Owns what of a plan's form can be said that way: each tool is a kind of step, with the one state that it leads to and the
//! arguments that it takes. The check of a plan does not rest on it; a server may refuse it, or not keep it.

use serde_json::{Map, Value, json};

use crate::core::contract::{Descriptor, Tool};

/// A schema, and whether it is one of the subset that servers can hold a model to word by word ("structured outputs", as
/// OpenAI documents them).
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSchema {
    /// The schema.
    pub schema: Value,
    /// Every object closed, every property required, and nothing beyond the commonest keywords.
    pub strict: bool,
}

/// The schema of a plan over a plugin's tools.
#[must_use]
pub fn plan_schema(descriptor: &Descriptor) -> PlanSchema {
    let mut strict = !descriptor.tools.is_empty();
    let steps: Vec<_> = descriptor
        .tools
        .iter()
        .map(|tool| {
            let (schema, is_strict) = step(tool);
            strict &= is_strict;
            schema
        })
        .collect();
    let steps = if steps.is_empty() {
        json!({"type": "array", "maxItems": 0})
    } else {
        json!({"type": "array", "items": {"anyOf": steps}})
    };
    PlanSchema {
        schema: closed(json!({
            "goal": {"type": "string"},
            "status": {"type": "string", "enum": ["ready", "needs-human"]},
            "reason": {"type": "string"},
            "steps": steps,
        })),
        strict,
    }
}

fn step(tool: &Tool) -> (Value, bool) {
    let mut properties = json!({
        "id": {"type": "string"},
        "tool": {"type": "string", "enum": [tool.name]},
        "dependsOn": {"type": "array", "items": {"type": "string"}},
        "expected": {"type": "string", "enum": [tool.postcondition]},
    });
    let mut strict = true;
    if let Some(arguments) = &tool.arguments {
        let schema = arguments.value();
        strict = is_strict(&schema) && schema["type"] == "object";
        properties["arguments"] = if refers(&schema) {
            json!({"type": "object"})
        } else {
            schema
        };
    }
    (closed(properties), strict)
}

/// An object with these properties and no others.
fn closed(properties: Value) -> Value {
    let names: Vec<_> = properties
        .as_object()
        .map(|all| all.keys().cloned().collect())
        .unwrap_or_default();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// Whether a reference in it would mean something else inside another schema.
fn refers(schema: &Value) -> bool {
    const WORDS: [&str; 6] = [
        "$ref",
        "$dynamicRef",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$schema",
    ];
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| WORDS.contains(&key.as_str()) || refers(value)),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

fn is_strict(schema: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return false;
    };
    schema
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" | "enum" | "const" | "title" | "description" => true,
            "items" => is_strict(value),
            "anyOf" => value
                .as_array()
                .is_some_and(|all| all.iter().all(is_strict)),
            "properties" => value
                .as_object()
                .is_some_and(|all| all.values().all(is_strict)),
            // Looked at where the properties are.
            "required" | "additionalProperties" => true,
            _ => false,
        })
        && (!is_object(schema) || is_closed(schema))
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let of_type = |value: &Value| value == "object";
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(of_type),
        Some(one) => of_type(one),
        None => schema.contains_key("properties"),
    }
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let (Some(properties), Some(required)) = (properties, required) else {
        return false;
    };
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties
            .keys()
            .all(|name| required.iter().any(|it| it == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{core::contract::Effect, words::json::JsonText};

    fn painter(arguments: &[Option<Value>]) -> Descriptor {
        let tool = |(at, arguments): (usize, &Option<Value>)| Tool {
            name: format!("tool{at}"),
            description: "d".into(),
            effect: Effect::Write,
            postcondition: format!("state{at}"),
            arguments: arguments.as_ref().map(JsonText::of),
        };
        Descriptor {
            name: "painter".into(),
            version: "1".into(),
            instructions: String::new(),
            input_schema: JsonText::of(&json!({})),
            tools: arguments.iter().enumerate().map(tool).collect(),
            migrations: Vec::new(),
            max_steps: 3,
        }
    }

    fn colour() -> Value {
        json!({
            "type": "object",
            "properties": {
                "colour": {"enum": ["red", "blue"], "description": "d"},
                "more": {"type": ["object", "null"], "properties": {}, "required": [], "additionalProperties": false},
            },
            "required": ["colour", "more"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn each_tool_is_a_kind_of_step() {
        let found = plan_schema(&painter(&[None, Some(colour())]));
        assert!(found.strict);
        let kinds = &found.schema["properties"]["steps"]["items"]["anyOf"];
        assert_eq!(kinds[0]["properties"]["tool"]["enum"], json!(["tool0"]));
        assert_eq!(
            kinds[0]["properties"]["expected"]["enum"],
            json!(["state0"])
        );
        assert_eq!(kinds[0]["properties"].get("arguments"), None);
        assert_eq!(kinds[1]["properties"]["arguments"], colour());
        assert!(is_strict(&found.schema), "{}", found.schema);
    }

    #[test]
    fn a_plan_that_the_host_reads_fits_and_another_does_not() {
        let found = plan_schema(&painter(&[None, Some(colour())]));
        let schema = jsonschema::validator_for(&found.schema).unwrap();
        let plan =
            |step: Value| json!({"goal": "g", "status": "ready", "reason": "r", "steps": [step]});
        let plain = json!({"id": "s", "tool": "tool0", "dependsOn": [], "expected": "state0"});
        let painted = json!({"id": "s", "tool": "tool1", "dependsOn": ["a"], "expected": "state1",
            "arguments": {"colour": "red", "more": null}});
        assert!(schema.is_valid(&plan(plain.clone())));
        assert!(schema.is_valid(&plan(painted.clone())));
        let mut other_state = plain.clone();
        other_state["expected"] = "state1".into();
        let mut with_arguments = plain;
        with_arguments["arguments"] = json!({});
        let mut green = painted;
        green["arguments"]["colour"] = "green".into();
        for wrong in [other_state, with_arguments, green] {
            assert!(!schema.is_valid(&plan(wrong.clone())), "{wrong}");
        }
    }

    #[test]
    fn what_no_server_can_hold_a_model_to_is_not_called_strict() {
        let mut open = colour();
        open["additionalProperties"] = true.into();
        let mut optional = colour();
        optional["required"] = json!(["colour"]);
        let mut bounded = colour();
        bounded["minProperties"] = 1.into();
        for schema in [
            open,
            optional,
            bounded,
            json!({}),
            json!(true),
            json!({"type": "object"}),
        ] {
            let found = plan_schema(&painter(&[Some(schema.clone())]));
            assert!(!found.strict, "{schema}");
            let kind = &found.schema["properties"]["steps"]["items"]["anyOf"][0];
            assert_eq!(kind["properties"]["arguments"], schema);
        }
    }

    #[test]
    fn references_are_left_out_as_they_would_point_elsewhere() {
        let schema =
            json!({"$defs": {"a": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/a"}}});
        let found = plan_schema(&painter(&[Some(schema)]));
        assert!(!found.strict);
        let kind = &found.schema["properties"]["steps"]["items"]["anyOf"][0];
        assert_eq!(kind["properties"]["arguments"], json!({"type": "object"}));
    }

    #[test]
    fn without_tools_no_step_fits() {
        let found = plan_schema(&painter(&[]));
        assert!(!found.strict);
        let schema = jsonschema::validator_for(&found.schema).unwrap();
        let mut plan = json!({"goal": "g", "status": "needs-human", "reason": "r", "steps": []});
        assert!(schema.is_valid(&plan));
        plan["steps"] = json!([{}]);
        assert!(!schema.is_valid(&plan));
    }
}
