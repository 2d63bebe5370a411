//! What a plugin says of itself, checked before anything relies on it.
//!
//! Owns the checks of a descriptor, and that its schemas are compiled at once. Never calls a plugin. Called by `domain.rs`
//! while it loads.

use std::collections::HashSet;

use super::{
    bindings::wharf::domain::types,
    contract::{Checked, json, violation, within},
    fault::CallFault,
    limits::PluginLimits,
};
use crate::{
    core::{
        contract::{Descriptor, Effect, Migration, Tool},
        request::is_text,
    },
    schema::{ArgumentsSchemas, SchemaCompiler},
    words::{id::is_identifier, json::JsonText, scrub::scrub},
};

/// A description that holds, and its schemas ready for use.
pub(super) struct Description {
    pub(super) descriptor: Descriptor,
    pub(super) arguments: ArgumentsSchemas,
}

pub(super) fn description(found: types::Descriptor, limits: &PluginLimits) -> Checked<Description> {
    let texts = [
        &found.name,
        &found.version,
        &found.instructions,
        &found.input_schema,
    ];
    let tools = found.tools.iter().flat_map(|tool| {
        let arguments = tool.arguments.as_ref();
        [
            Some(&tool.name),
            Some(&tool.description),
            Some(&tool.postcondition),
            arguments,
        ]
    });
    let migrations = found.migrations.iter().map(|migration| &migration.sql);
    let bytes = texts
        .into_iter()
        .chain(tools.flatten())
        .chain(migrations)
        .map(String::len)
        .sum();
    within("descriptor", bytes, limits.descriptor_bytes)?;

    if !is_identifier(&found.name) {
        return Err(violation(
            "the plugin's name is not 1 to 80 letters, digits, `_` or `-`",
            &found.name,
        ));
    }
    if !is_text(&found.version) {
        return Err(violation(
            "the plugin's version is blank or too long",
            &found.version,
        ));
    }
    if !(1..=100).contains(&found.max_steps) {
        return Err(CallFault::violation(format!(
            "max-steps is {}, allowed are 1 to 100",
            found.max_steps
        )));
    }
    let mut schemas = SchemaCompiler::default();
    let input_schema = schema("the input schema", found.input_schema, limits)?;
    schemas
        .check(&input_schema)
        .map_err(|fault| violation("the input schema is refused", &fault.to_string()))?;
    let mut arguments = ArgumentsSchemas::default();
    let mut names = HashSet::new();
    let mut tools = Vec::with_capacity(found.tools.len());
    for tool in found.tools {
        if !names.insert(tool.name.clone()) {
            return Err(violation("two tools have the same name", &tool.name));
        }
        let tool = self::tool(tool, limits)?;
        if let Some(schema) = &tool.arguments {
            let refused = format!("the arguments' schema of {} is refused", tool.name);
            arguments
                .add(&tool.name, schema, &mut schemas)
                .map_err(|fault| violation(&refused, &fault.to_string()))?;
        }
        tools.push(tool);
    }
    Ok(Description {
        descriptor: Descriptor {
            input_schema,
            name: found.name,
            version: found.version,
            instructions: scrub(found.instructions),
            tools,
            migrations: self::migrations(found.migrations)?,
            max_steps: found.max_steps,
        },
        arguments,
    })
}

fn tool(found: types::Tool, limits: &PluginLimits) -> Checked<Tool> {
    if !is_identifier(&found.name) {
        return Err(violation(
            "a tool's name is not 1 to 80 letters, digits, `_` or `-`",
            &found.name,
        ));
    }
    let effect = match found.effect {
        types::Effect::Read => Effect::Read,
        types::Effect::Write => Effect::Write,
        types::Effect::External => {
            return Err(violation(
                "a tool declares the effect `external`, which this version of the contract reserves",
                &found.name,
            ));
        }
    };
    if !is_text(&found.postcondition) {
        return Err(violation(
            "a tool's postcondition is blank or too long",
            &found.name,
        ));
    }
    let arguments = found
        .arguments
        .map(|text| {
            schema(
                &format!("the arguments' schema of {}", found.name),
                text,
                limits,
            )
        })
        .transpose()?;
    Ok(Tool {
        name: found.name,
        description: scrub(found.description),
        effect,
        postcondition: found.postcondition,
        arguments,
    })
}

fn migrations(found: Vec<types::Migration>) -> Checked<Vec<Migration>> {
    let mut migrations: Vec<Migration> = Vec::with_capacity(found.len());
    for types::Migration { version, sql } in found {
        let follows = match migrations.last() {
            None => version == 1,
            Some(last) => version > last.version,
        };
        if !follows || sql.trim().is_empty() {
            return Err(CallFault::violation(format!(
                "the migration {version} is empty, or not in ascending order from 1"
            )));
        }
        migrations.push(Migration { version, sql });
    }
    Ok(migrations)
}

fn schema(what: &str, text: String, limits: &PluginLimits) -> Checked<JsonText> {
    let json = json(what, text, limits.descriptor_bytes, limits)?;
    let value = json.value();
    if value.is_object() || value.is_boolean() {
        Ok(json)
    } else {
        Err(CallFault::violation(format!("{what} is not a JSON Schema")))
    }
}
