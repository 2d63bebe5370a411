//! The JSON Schema of a configuration file, for editors and for checks before a deployment.
//!
//! Made of the very types that a file is read into. What it cannot say, the reading of the file says.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    DATABASE_PRESETS, Defaults, ENGINE_PRESETS, PLUGIN_PRESETS, Presets, SQL_PRESETS,
    WorkspaceTable,
};
use crate::technologies::chat::ChatSettings;

/// The schema of `wharf.toml`, draft 2020-12.
#[must_use]
pub fn config_schema() -> Value {
    let mut plugin = limits(PLUGIN_PRESETS);
    plugin["properties"]["sql"] = json!({"$ref": "#/$defs/sql"});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "wharf.toml",
        "description": "What an operator of Wharf sets.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "defaults": table::<Defaults>(),
            "providers": {
                "description": "Servers of models, by names of your own.",
                "type": "object",
                "propertyNames": {"pattern": "^[A-Za-z0-9_-]{1,80}$"},
                "additionalProperties": table::<ChatSettings>(),
            },
            "engine": limits(ENGINE_PRESETS),
            "database": limits(DATABASE_PRESETS),
            "workspace": table::<WorkspaceTable>(),
            "plugin": {
                "$ref": "#/$defs/plugin",
                "description": "What a plugin may use that has no table of its own under `plugins`.",
            },
            "plugins": {
                "description": "What the plugins of these names may use.",
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/plugin"},
            },
        },
        "$defs": {"plugin": plugin, "sql": limits(SQL_PRESETS)},
    })
}

/// A table of limits: every key, or a preset and what differs from it.
fn limits<T: JsonSchema>(presets: Presets<T>) -> Value {
    let names: Vec<_> = presets.iter().map(|(name, _)| *name).collect();
    let mut schema = table::<T>();
    let every_key = schema["required"].take();
    let object = schema.as_object_mut().expect("a table is an object");
    object.remove("required");
    object.insert(
        "anyOf".into(),
        json!([{"required": ["preset"]}, {"required": every_key}]),
    );
    schema["properties"]["preset"] = json!({
        "description": "Where a key is not set, its value is that of the preset.",
        "enum": names,
    });
    schema
}

fn table<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    for_readers(&mut schema);
    schema
}

/// The links of Rust's documentation lead nowhere here, and a type's width says nothing that its bounds do not.
fn for_readers(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.remove("format");
            describe(members);
            members.values_mut().for_each(for_readers);
        }
        Value::Array(items) => items.iter_mut().for_each(for_readers),
        _ => (),
    }
}

fn describe(members: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = text
            .replace("[`", "`")
            .replace("`]", "`")
            .replace('\n', " ");
    }
}
