//! The arguments of the tools over the memory.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::core::{
    ports::memories::{MAX_PAGE, MemoryFields, MemoryId, MemoryPatch},
    tools::error::ToolError,
};

/// Objects of a page or a search where the caller does not say.
const STANDARD_LIMIT: u32 = 20;

pub(super) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments)
        .map_err(|error| ToolError::new("invalid-arguments", error.to_string()))
}

/// The fields of an object.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Fields {
    /// Any JSON, or a text.
    content: Value,
    /// In a few words; weighs more in a search.
    #[schemars(length(min = 1, max = 1000))]
    summary: Option<String>,
    /// Whose it is or what it is about.
    #[schemars(length(min = 1, max = 200))]
    scope: Option<String>,
    /// What it is filed under.
    #[serde(default)]
    #[schemars(length(max = 32))]
    categories: Vec<String>,
    /// Whatever else.
    #[serde(default)]
    metadata: Map<String, Value>,
    /// Where it comes from; the caller where it is left out.
    #[schemars(length(min = 1, max = 200))]
    source: Option<String>,
}

impl Fields {
    pub(super) fn of(self, caller: &str) -> MemoryFields {
        MemoryFields {
            content: self.content,
            summary: self.summary,
            scope: self.scope,
            categories: self.categories,
            metadata: self.metadata,
            source: self.source.unwrap_or_else(|| caller.to_owned()),
        }
    }
}

/// Of `memory_add`.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct New {
    #[serde(flatten)]
    pub(super) fields: Fields,
}

/// Of `memory_upsert`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(super) struct Replacement {
    #[schemars(with = "Id")]
    pub(super) id: MemoryId,
    #[serde(flatten)]
    pub(super) fields: Fields,
    /// The version that the object must have; 0: there must be none.
    pub(super) expected_version: Option<u64>,
}

/// Of `memory_get`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Lookup {
    #[schemars(with = "Id")]
    pub(super) id: MemoryId,
}

/// Of `memory_update`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Change {
    #[schemars(with = "Id")]
    pub(super) id: MemoryId,
    /// What is to change; what is left out stays, and null removes a summary or a scope.
    pub(super) patch: Patch,
    /// The version that the object must have.
    pub(super) expected_version: Option<u64>,
}

/// What is to change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Patch {
    /// Any JSON, or a text.
    #[serde(default, deserialize_with = "there")]
    content: Option<Value>,
    #[serde(default, deserialize_with = "there")]
    summary: Option<Option<String>>,
    #[serde(default, deserialize_with = "there")]
    scope: Option<Option<String>>,
    categories: Option<Vec<String>>,
    metadata: Option<Map<String, Value>>,
    source: Option<String>,
}

impl From<Patch> for MemoryPatch {
    fn from(patch: Patch) -> Self {
        Self {
            content: patch.content,
            summary: patch.summary,
            scope: patch.scope,
            categories: patch.categories,
            metadata: patch.metadata,
            source: patch.source,
        }
    }
}

/// Tells null from nothing.
fn there<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Of `memory_delete`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Removal {
    #[schemars(with = "Id")]
    pub(super) id: MemoryId,
    /// The version that the object must have.
    pub(super) expected_version: Option<u64>,
}

/// Of `memory_query`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    /// Only of this scope.
    pub(super) scope: Option<String>,
    /// Only filed under this.
    pub(super) category: Option<String>,
    /// The `next` of the page before.
    #[schemars(with = "Option<Id>")]
    pub(super) after: Option<MemoryId>,
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = MAX_PAGE))]
    pub(super) limit: u32,
}

/// Of `memory_search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// Words that an object must hold, all of them.
    pub(super) text: String,
    /// Only of this scope.
    pub(super) scope: Option<String>,
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = MAX_PAGE))]
    pub(super) limit: u32,
}

/// Of `memory_touch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ids {
    #[schemars(with = "Vec<Id>", length(max = MAX_PAGE))]
    pub(super) ids: Vec<MemoryId>,
}

const fn limit() -> u32 {
    STANDARD_LIMIT
}

/// The id of an object.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct Id(
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.:/-]{1,200}$"))]
    #[expect(dead_code)]
    String,
);
