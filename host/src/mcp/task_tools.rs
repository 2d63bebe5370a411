//! The tools for tasks: what a client is told of them, and the form of their arguments and answers.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::Value;
use wharf::{Checkpoint, TaskId};

use super::result;

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskTool {
    Run,
    Status,
    Resume,
    Cancel,
}

impl TaskTool {
    const ALL: [Self; 4] = [Self::Run, Self::Status, Self::Resume, Self::Cancel];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Run => "task_run",
            Self::Status => "task_status",
            Self::Resume => "task_resume",
            Self::Cancel => "task_cancel",
        }
    }

    /// The one with this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn described(self) -> Tool {
        let changes = |destroys: bool| {
            ToolAnnotations::new()
                .read_only(false)
                .destructive(destroys)
                .idempotent(true)
        };
        let name = self.name();
        match self {
            Self::Run => tool::<RunArguments, RunAnswer>(
                name,
                "Runs one plan-and-execute task to its end: a plan is proposed, accepted whole, performed step by step, each step exactly once, and reported. The same request again goes on with the same task; a finished one answers with its report. With wait=false it answers at once, and task_status tells how it goes.",
                changes(true),
            ),
            Self::Status => tool::<StatusArguments, StatusAnswer>(
                name,
                "Tells what the journal knows of one task or of all: stage, plans, steps, budgets and time left; and what runs in this server.",
                ToolAnnotations::new()
                    .read_only(true)
                    .destructive(false)
                    .idempotent(true),
            ),
            Self::Resume => tool::<ResumeArguments, RunAnswer>(
                name,
                "Goes on with a saved task, after a crash, a cancellation, a failure or a checkpoint. No step that was performed is performed again.",
                changes(true),
            ),
            Self::Cancel => tool::<CancelArguments, CancelAnswer>(
                name,
                "Cancels the run of a task in this server: the step in flight ends or is undone, nothing more happens, and the task can be resumed.",
                changes(false),
            ),
        }
    }
}

/// All of them, in the order in which they are listed.
pub(super) fn all() -> [Tool; 4] {
    TaskTool::ALL.map(TaskTool::described)
}

fn tool<A: JsonSchema, O: JsonSchema>(
    name: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    let mut answer = schema::<O>();
    answer.values_mut().for_each(without_defaults);
    Tool::new(name, description, schema::<A>())
        .with_raw_output_schema(result::schema(answer).into())
        .with_annotations(annotations.open_world(false))
}

/// Without references, which not every client follows, and without what the form is called in the program.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    match schema.to_value() {
        Value::Object(mut schema) => {
            schema.values_mut().for_each(without_null_defaults);
            schema
        }
        _ => JsonObject::new(),
    }
}

/// What may be missing is not null where it is.
fn without_null_defaults(schema: &mut Value) {
    drop_defaults(schema, &|default| default.is_null());
}

/// What is missing from an answer is missing, and stands for nothing.
fn without_defaults(schema: &mut Value) {
    drop_defaults(schema, &|_| true);
}

fn drop_defaults(schema: &mut Value, which: &dyn Fn(&Value) -> bool) {
    match schema {
        Value::Object(members) => {
            if members.get("default").is_some_and(which) {
                members.remove("default");
            }
            members
                .values_mut()
                .for_each(|schema| drop_defaults(schema, which));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|schema| drop_defaults(schema, which)),
        _ => (),
    }
}

/// Arguments of `task_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RunArguments {
    /// What is asked for, as in request.json.
    #[schemars(with = "RequestForm")]
    pub(super) request: Value,
    /// Stops when a plan was accepted, before its effects; when one step was completed; or when the report is durable,
    /// before anything is published. Default: runs to the end.
    #[serde(default)]
    #[schemars(with = "StopAfter")]
    pub(super) stop_after: Option<StopAfter>,
    /// Whether to answer when the run has ended, or at once.
    #[serde(default = "yes")]
    pub(super) wait: bool,
}

/// Where to stop.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(description = "")]
pub(super) enum StopAfter {
    Plan,
    Step,
    Report,
}

impl From<StopAfter> for Checkpoint {
    fn from(stop: StopAfter) -> Self {
        match stop {
            StopAfter::Plan => Self::Plan,
            StopAfter::Step => Self::Step,
            StopAfter::Report => Self::Report,
        }
    }
}

/// Arguments of `task_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StatusArguments {
    /// The task. Default: all of the workspace.
    #[serde(default)]
    #[schemars(with = "Id")]
    pub(super) task: Option<TaskId>,
}

/// Arguments of `task_resume`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResumeArguments {
    /// The task.
    #[schemars(with = "Id")]
    pub(super) task: TaskId,
    /// Whether to answer when the run has ended, or at once.
    #[serde(default = "yes")]
    pub(super) wait: bool,
}

/// Arguments of `task_cancel`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelArguments {
    /// The task.
    #[schemars(with = "Id")]
    pub(super) task: TaskId,
}

const fn yes() -> bool {
    true
}

/// An identifier.
#[derive(JsonSchema)]
#[schemars(transparent, description = "")]
#[expect(dead_code, reason = "a form to make a schema of")]
struct Id(#[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,80}$"))] String);

/// The form of a request. The host reads it strictly; this is what a model is told of it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, description = "")]
#[expect(dead_code, reason = "a form to make a schema of")]
struct RequestForm {
    /// Names the task.
    id: Id,
    /// Whose workspace it is; all tasks of a workspace have the same.
    tenant: Id,
    /// Who asks.
    principal: Id,
    /// What is wanted, for the planning model: 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    goal: String,
    /// The plugin that knows the domain.
    plugin: PluginForm,
    /// What the task may cost.
    budgets: BudgetsForm,
    /// The domain's own part.
    input: Value,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a form to make a schema of")]
struct PluginForm {
    /// The name in its descriptor.
    name: Id,
    /// The version in its descriptor.
    version: String,
    /// The SHA-256 of the component: one that the server was started with, or one that ran in this workspace.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    digest: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "a form to make a schema of")]
struct BudgetsForm {
    /// Attempts at the model.
    #[schemars(range(min = 1, max = 5))]
    max_plans: u32,
    /// Tool calls.
    #[schemars(range(min = 0, max = 30))]
    max_actions: u32,
    /// Wall time since admission, pauses included.
    #[schemars(range(min = 1, max = 3600))]
    deadline_seconds: u32,
    /// Refused plans after which the model is asked again.
    #[schemars(default, range(min = 0, max = 4))]
    max_invalid_plans: u32,
}

/// A run's answer: with `report` it is finished, with `checkpoint` it stopped where it was asked to, with `state` it is
/// running or was cancelled.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "a form to make a schema of")]
struct RunAnswer {
    /// The task.
    task: Id,
    /// The workspace, as an absolute path.
    #[schemars(default)]
    workspace: String,
    /// The task's folder.
    #[schemars(default)]
    directory: String,
    /// What report.json holds.
    #[schemars(default)]
    report: JsonObject,
    /// Where it stopped: plan, step or report.
    #[schemars(default)]
    checkpoint: String,
    /// running or cancelled.
    #[schemars(default)]
    state: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "a form to make a schema of")]
struct StatusAnswer {
    /// The workspace, as an absolute path.
    workspace: String,
    /// What the journal knows of each task, in order of admission.
    tasks: Vec<JsonObject>,
    /// What runs in this server, and how its last runs ended.
    runs: Vec<RunForm>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "a form to make a schema of")]
struct RunForm {
    /// The task.
    task: Id,
    /// running, finished, stopped, cancelled or failed.
    state: String,
    /// Why it failed.
    #[schemars(default)]
    error: JsonObject,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "a form to make a schema of")]
struct CancelAnswer {
    /// The task.
    task: Id,
    /// How its run ended: cancelled, or finished, stopped or failed where it came first.
    state: String,
    /// Why it failed.
    #[schemars(default)]
    error: JsonObject,
}
