//! What the tools over the memory say of themselves.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

use super::{
    Call,
    arguments::{Change, Ids, Lookup, New, Query, Removal, Replacement, Search},
};
use crate::core::tools::descriptor::{MEMORY_TIMEOUT, ToolDescriptor, ToolEffect};

pub(super) fn of(call: Call) -> ToolDescriptor {
    let (name, effect, description, input, output) = match call {
        Call::Add => (
            "memory_add",
            ToolEffect::Write,
            "Keeps something under a new id, which it answers.",
            schema::<New>(),
            written(),
        ),
        Call::Upsert => (
            "memory_upsert",
            ToolEffect::Destroy,
            "Keeps something under an id of your choice, in the place of what was there. With `expectedVersion`, only if it has that version.",
            schema::<Replacement>(),
            written(),
        ),
        Call::Get => (
            "memory_get",
            ToolEffect::Read,
            "Reads exactly the object of this id; null where there is none.",
            schema::<Lookup>(),
            json!({
                "type": ["object", "null"],
                "properties": { "id": { "type": "string" }, "version": { "type": "integer", "minimum": 1 } },
                "required": ["id", "version"],
            }),
        ),
        Call::Update => (
            "memory_update",
            ToolEffect::Destroy,
            "Changes some fields of an object and leaves the others as they are.",
            schema::<Change>(),
            written(),
        ),
        Call::Delete => (
            "memory_delete",
            ToolEffect::Destroy,
            "Removes an object; `deleted` is false where there was none.",
            schema::<Removal>(),
            object("deleted", json!({ "type": "boolean" })),
        ),
        Call::Query => (
            "memory_query",
            ToolEffect::Read,
            "Lists objects of a scope or a category, ordered by id, page by page: `next` is the `after` of the next page.",
            schema::<Query>(),
            object("objects", json!({ "type": "array" })),
        ),
        Call::Search => (
            "memory_search",
            ToolEffect::Read,
            "Finds objects by the words in them, the best first.",
            schema::<Search>(),
            object("objects", json!({ "type": "array" })),
        ),
        Call::Touch => (
            "memory_touch",
            ToolEffect::Write,
            "Records that these objects were of use.",
            schema::<Ids>(),
            object("touched", json!({ "type": "integer" })),
        ),
    };
    ToolDescriptor::new(name, description, input)
        .with_output(output)
        .with_timeout(MEMORY_TIMEOUT)
        .with_effect(effect)
        .with_cache_hint()
}

/// Without references: not every provider follows them.
fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    schema.to_value()
}

fn object(field: &str, schema: Value) -> Value {
    json!({ "type": "object", "properties": { field: schema }, "required": [field] })
}

fn written() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "version": { "type": "integer", "minimum": 1 },
            "updatedAt": { "type": "string" },
        },
        "required": ["id", "version", "updatedAt"],
    })
}
