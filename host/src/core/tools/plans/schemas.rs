//! What the tools over plans say of themselves.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::check::PlanRules;
use crate::core::tools::{
    descriptor::{MEMORY_TIMEOUT, ToolDescriptor, ToolEffect},
    error::ToolError,
};

/// The descriptor of `plan_write`.
#[must_use]
pub fn plan_write() -> ToolDescriptor {
    let description = "Writes the plan you work by, before you act and whenever it changes. Give `plan` for the whole list of \
        steps, with the `expectedVersion` that you have read where a plan stands already, or `step` to add or change one step and leave the others alone. At most one step is `in_progress`. The plan is \
        durable and shared by all agents: with `expectedVersion`, a plan that somebody else has changed is left as it is.";
    let input = json!({
        "type": "object",
        "properties": {
            "plan": {
                "description": "The whole plan, or its JSON as a text.",
                "anyOf": [
                    {
                        "type": "object",
                        "properties": { "steps": { "type": "array", "maxItems": PlanRules::MAX_STEPS, "items": step() } },
                        "required": ["steps"],
                        "additionalProperties": false,
                    },
                    { "type": "string" },
                ],
            },
            "step": step(),
            "name": name(),
            "expectedVersion": {
                "type": "integer", "minimum": 0,
                "description": "The version that the plan must have for this write; 0: there must be none.",
            },
        },
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "status": { "const": "ok" },
            "version": { "type": "integer", "minimum": 1 },
        },
        "required": ["status", "version"],
    });
    ToolDescriptor::new("plan_write", description, input)
        .with_output(output)
        .with_timeout(MEMORY_TIMEOUT)
        .with_effect(ToolEffect::Destroy)
}

/// The descriptor of `plan_read`.
#[must_use]
pub fn plan_read() -> ToolDescriptor {
    let description = "Reads the plan you work by, with its version; null where there is none. What it says is true, whatever \
        you remember. With `task`, shows how a plan-execute task stands instead.";
    let input = json!({
        "type": "object",
        "properties": {
            "name": name(),
            "task": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$", "description": "The id of a plan-execute task." },
            "history": { "type": "boolean", "description": "Also tells who changed what, newest last." },
        },
        "additionalProperties": false,
    });
    let output = json!({
        "type": ["object", "null"],
        "properties": {
            "name": { "type": "string" },
            "version": { "type": "integer", "minimum": 0 },
            "plan": {
                "type": "object",
                "properties": { "steps": { "type": "array", "items": { "type": "object" } } },
                "required": ["steps"],
            },
        },
        "required": ["name", "version", "plan"],
    });
    ToolDescriptor::new("plan_read", description, input)
        .with_output(output)
        .with_timeout(MEMORY_TIMEOUT)
        .with_effect(ToolEffect::Read)
        .with_cache_hint()
}

fn step() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$" },
            "title": { "type": "string", "minLength": 1, "maxLength": 1000 },
            "status": { "enum": ["pending", "in_progress", "completed"] },
            "dependsOn": { "type": "array", "items": { "type": "string" }, "description": "Ids of steps that come before it." },
            "note": { "type": "string", "minLength": 1, "maxLength": 1000 },
        },
        "required": ["id", "title", "status"],
        "additionalProperties": false,
    })
}

fn name() -> Value {
    json!({
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]{1,80}$",
        "description": "Which plan; the current one where it is left out.",
    })
}

/// The arguments that the schema let through, in the tool's own form.
pub(in crate::core::tools) fn read_arguments<T: DeserializeOwned>(
    arguments: &Value,
) -> Result<T, ToolError> {
    T::deserialize(arguments)
        .map_err(|error| ToolError::new("invalid-arguments", error.to_string()))
}
