//! The tools over the memory: one for each call of [`Memories`].
//!
//! Owns their arguments, and that plans are written through `plan_write` alone.

mod arguments;
mod descriptors;

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use self::arguments::{Change, Ids, Lookup, New, Query, Removal, Replacement, Search};
use super::{
    descriptor::ToolDescriptor,
    error::{ToolError, ToolFault},
    plans::{self, PlanRead, PlanRules, PlanWrite},
    tool::{MemoryTool, ToolBody, ToolCall},
};
use crate::core::{
    ports::memories::{Memories, MemoryFilter, MemoryId, Page},
    tools::plans::TaskView,
};

/// All tools over the memory, plans first, in the order in which a model is told of them. `tasks` shows how plan-execute tasks
/// stand.
#[must_use]
pub fn memory_tools(rules: PlanRules, tasks: Option<TaskView>) -> Vec<(ToolDescriptor, ToolBody)> {
    let plans: [(ToolDescriptor, Arc<dyn MemoryTool>); 2] = [
        (plans::plan_write(), Arc::new(PlanWrite { rules })),
        (plans::plan_read(), Arc::new(PlanRead { tasks })),
    ];
    let objects = Call::ALL.map(|call| {
        let body: Arc<dyn MemoryTool> = Arc::new(call);
        (descriptors::of(call), body)
    });
    plans
        .into_iter()
        .chain(objects)
        .map(|(descriptor, body)| (descriptor, ToolBody::Memory(body)))
        .collect()
}

/// One call of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Add,
    Upsert,
    Get,
    Update,
    Delete,
    Query,
    Search,
    Touch,
}

impl Call {
    const ALL: [Self; 8] = [
        Self::Add,
        Self::Upsert,
        Self::Get,
        Self::Update,
        Self::Delete,
        Self::Query,
        Self::Search,
        Self::Touch,
    ];
}

impl MemoryTool for Call {
    fn run(&self, call: &ToolCall<'_>, memories: &dyn Memories) -> Result<Value, ToolFault> {
        let given = call.arguments;
        Ok(match self {
            Self::Add => {
                let New { fields } = arguments::read(given)?;
                written(&memories.add(&fields.of(call.caller))?)
            }
            Self::Upsert => {
                let Replacement {
                    id,
                    fields,
                    expected_version,
                } = arguments::read(given)?;
                own(&id)?;
                written(&memories.upsert(&id, &fields.of(call.caller), expected_version)?)
            }
            Self::Get => {
                let Lookup { id } = arguments::read(given)?;
                value(&memories.get(&id)?)
            }
            Self::Update => {
                let Change {
                    id,
                    patch,
                    expected_version,
                } = arguments::read(given)?;
                own(&id)?;
                written(&memories.update(&id, &patch.into(), expected_version)?)
            }
            Self::Delete => {
                let Removal {
                    id,
                    expected_version,
                } = arguments::read(given)?;
                own(&id)?;
                json!({ "deleted": memories.delete(&id, expected_version)? })
            }
            Self::Query => {
                let Query {
                    scope,
                    category,
                    after,
                    limit,
                } = arguments::read(given)?;
                let filter = MemoryFilter { scope, category };
                value(&memories.query(&filter, &Page { after, limit })?)
            }
            Self::Search => {
                let Search { text, scope, limit } = arguments::read(given)?;
                json!({ "objects": memories.search(&text, scope.as_deref(), limit)? })
            }
            Self::Touch => {
                let Ids { ids } = arguments::read(given)?;
                json!({ "touched": memories.touch(&ids)? })
            }
        })
    }
}

/// Plans have rules of their own.
fn own(id: &MemoryId) -> Result<(), ToolError> {
    if id.as_str().starts_with("plan:") {
        return Err(ToolError::new(
            "reserved-id",
            format!(
                "`{id}` is where a plan is kept: `plan_write` writes it, and nothing else does"
            ),
        ));
    }
    Ok(())
}

/// What a write answers: not the content, which the caller has just given.
fn written(object: &crate::core::ports::memories::Memory) -> Value {
    json!({ "id": object.id, "version": object.version, "updatedAt": object.updated_at })
}

fn value<T: Serialize>(found: &T) -> Value {
    serde_json::to_value(found).expect("an object of the memory can be written as JSON")
}
