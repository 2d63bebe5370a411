//! `plan_read`: the plan with its version, or null where there is none.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    history::{self, Entry},
    plan::{CURRENT, SharedPlan, id_of},
};
use crate::{
    core::{
        ports::memories::{Memories, Memory},
        tools::{
            error::{ToolError, ToolFault},
            tool::{MemoryTool, ToolCall},
        },
        view::View,
    },
    words::{error::Error, id::TaskId},
};

/// Looks at a task of the same workspace; none: there is no such task.
pub type TaskView = Arc<dyn Fn(&TaskId) -> Result<Option<View>, Error> + Send + Sync>;

/// The tool.
pub struct PlanRead {
    /// For plans of plan-execute tasks; none: they are not shown.
    pub tasks: Option<TaskView>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: Option<String>,
    task: Option<TaskId>,
    #[serde(default)]
    history: bool,
}

/// A plan as it is read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    name: String,
    version: u64,
    plan: SharedPlan,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Entry>>,
}

impl MemoryTool for PlanRead {
    fn run(&self, call: &ToolCall<'_>, memories: &dyn Memories) -> Result<Value, ToolFault> {
        let arguments: Arguments = super::schemas::read_arguments(call.arguments)?;
        let found = match arguments.task {
            Some(task) => self.of_task(&task)?,
            None => {
                let name = arguments.name.unwrap_or_else(|| CURRENT.to_owned());
                stored(memories, &name)?.map(|(object, plan)| Found {
                    name,
                    version: object.version,
                    plan,
                    updated_at: Some(object.updated_at),
                    history: arguments
                        .history
                        .then(|| history::of(&object.fields.metadata)),
                    updated_by: Some(object.fields.source),
                })
            }
        };
        Ok(serde_json::to_value(found).expect("a plan can be written as JSON"))
    }
}

impl PlanRead {
    fn of_task(&self, task: &TaskId) -> Result<Option<Found>, ToolFault> {
        let view = match &self.tasks {
            Some(tasks) => tasks(task)?,
            None => None,
        };
        Ok(view.filter(|view| view.plan_version > 0).map(|view| Found {
            name: format!("task:{task}"),
            version: view.plan_version.into(),
            plan: SharedPlan::of_task(&view),
            updated_at: None,
            updated_by: None,
            history: None,
        }))
    }
}

/// The object of a plan and the plan in it.
pub(super) fn stored(
    memories: &dyn Memories,
    name: &str,
) -> Result<Option<(Memory, SharedPlan)>, ToolFault> {
    let Some(object) = memories.get(&id_of(name))? else {
        return Ok(None);
    };
    match serde_json::from_value(object.fields.content.clone()) {
        Ok(plan) => Ok(Some((object, plan))),
        Err(error) => Err(ToolError::new(
            "not-a-plan",
            format!(
                "what is kept under `{}` is not a plan ({error}); write a whole plan in its place",
                object.id
            ),
        )
        .into()),
    }
}
