//! `plan_write`: a whole plan in the place of the stored one, or one step of it.
//!
//! Owns that no write is lost: what is written was made from the very version that it replaces, or is made anew.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    check::PlanRules,
    history::{self, Entry},
    plan::{CURRENT, SharedPlan, SharedStep, id_of},
    read::stored,
    schemas::read_arguments,
};
use crate::{
    core::{
        ports::memories::{Memories, MemoryFields},
        tools::{
            error::{ToolError, ToolFault},
            tool::{MemoryTool, ToolCall},
            toolbox::ARGUMENTS_BOUNDS,
        },
    },
    words::{error::Kind, json::parse_strict},
};

/// How often a write that somebody else's overtook is made anew before the caller is told.
const ATTEMPTS: u32 = 16;

/// The scope and the category of plans.
const PLANS: &str = "plans";

/// The tool.
pub struct PlanWrite {
    /// What is accepted.
    pub rules: PlanRules,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    plan: Option<Value>,
    step: Option<SharedStep>,
    name: Option<String>,
    expected_version: Option<u64>,
}

enum Change {
    Whole(SharedPlan),
    Step(SharedStep),
}

#[derive(Serialize)]
struct Written {
    status: &'static str,
    version: u64,
}

impl MemoryTool for PlanWrite {
    fn run(&self, call: &ToolCall<'_>, memories: &dyn Memories) -> Result<Value, ToolFault> {
        let arguments: Arguments = read_arguments(call.arguments)?;
        let change = match (arguments.plan, arguments.step) {
            (Some(plan), None) => Change::Whole(whole(plan)?),
            (None, Some(step)) => Change::Step(step),
            _ => {
                let message = "give either `plan`, the whole plan, or `step`, one step of it";
                return Err(ToolError::new("invalid-arguments", message).into());
            }
        };
        let name = arguments.name.as_deref().unwrap_or(CURRENT);
        let expected = arguments.expected_version;
        for _ in 1..ATTEMPTS {
            match self.write(call, memories, name, &change, expected) {
                Err(Overtaken::Yes) => (),
                Err(Overtaken::No(fault)) => return Err(fault),
                Ok(version) => return Ok(answer(version)),
            }
        }
        Err(ToolError::new(
            "plan-contended",
            "others wrote this plan again and again meanwhile; nothing was written",
        )
        .retryable()
        .into())
    }
}

/// Whether somebody else wrote between our reading and our writing.
enum Overtaken {
    Yes,
    No(ToolFault),
}

impl<E: Into<ToolFault>> From<E> for Overtaken {
    fn from(fault: E) -> Self {
        Self::No(fault.into())
    }
}

impl PlanWrite {
    fn write(
        &self,
        call: &ToolCall<'_>,
        memories: &dyn Memories,
        name: &str,
        change: &Change,
        expected: Option<u64>,
    ) -> Result<u64, Overtaken> {
        let found = match (stored(memories, name), change) {
            (Ok(found), _) => found,
            // A whole plan may take the place of what is none.
            (Err(ToolFault::Refused(_)), Change::Whole(_)) => memories
                .get(&id_of(name))?
                .map(|object| (object, SharedPlan::default())),
            (Err(fault), _) => return Err(fault.into()),
        };
        let version = found.as_ref().map_or(0, |(object, _)| object.version);
        if expected.is_some_and(|expected| expected != version) {
            return Err(conflict(expected.unwrap_or(0), version).into());
        }
        let (metadata, before) = found.map_or_else(Default::default, |(object, plan)| {
            (object.fields.metadata, plan)
        });
        let after = match change {
            Change::Whole(plan) => plan.clone(),
            Change::Step(step) => with_step(before.clone(), step),
        };
        self.rules.check(&after)?;
        let entry = Entry::of(version + 1, call.at, call.caller, &before, &after);
        let fields = MemoryFields {
            content: serde_json::to_value(&after).expect("a plan can be written as JSON"),
            summary: Some(format!("the plan `{name}`")),
            scope: Some(PLANS.to_owned()),
            categories: vec![PLANS.to_owned()],
            metadata: history::with(metadata, entry),
            source: call.caller.to_owned(),
        };
        match memories.upsert(&id_of(name), &fields, Some(version)) {
            Ok(object) => Ok(object.version),
            Err(error) if error.kind() == Kind::Conflict => Err(Overtaken::Yes),
            Err(error) => Err(error.into()),
        }
    }
}

/// The plan that the caller wrote, as an object or as the text of one.
fn whole(plan: Value) -> Result<SharedPlan, ToolError> {
    let refused =
        |why: String| ToolError::new("invalid-plan", format!("the plan is refused: {why}"));
    let plan = match plan {
        Value::String(text) => {
            parse_strict(&text, ARGUMENTS_BOUNDS).map_err(|error| refused(error.to_string()))?
        }
        plan => plan,
    };
    serde_json::from_value(plan).map_err(|error| refused(error.to_string()))
}

fn with_step(mut plan: SharedPlan, step: &SharedStep) -> SharedPlan {
    match plan.steps.iter_mut().find(|there| there.id == step.id) {
        Some(there) => *there = step.clone(),
        None => plan.steps.push(step.clone()),
    }
    plan
}

fn conflict(expected: u64, found: u64) -> ToolError {
    ToolError::new(
        "version-conflict",
        format!(
            "the plan has version {found}, not {expected}; nothing was written: read it and decide anew"
        ),
    )
    .with("expectedVersion", expected)
    .with("version", found)
}

fn answer(version: u64) -> Value {
    json!(Written {
        status: "ok",
        version
    })
}
