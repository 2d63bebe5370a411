//! The contract's questions, handed to the rules.

use wharf_plugin::{
    Answer, Completed, Conclusion, Descriptor, Failure, Plan, Plugin, Request, Step, Task, Tx,
    Violation, json, migrations, quoted,
};

use crate::arguments::Arguments;
use crate::input::Input;
use crate::snapshot::Snapshot;
use crate::tool::{TOOLS, Tool};
use crate::{conclusion, operation, plan};

/// The plugin.
pub struct Retail;

wharf_plugin::export!(Retail);

impl Plugin for Retail {
    type Input = Input;
    type Snapshot = Snapshot;

    fn describe() -> Descriptor {
        Descriptor {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: include_str!("../descriptor/instructions.md").to_owned(),
            input_schema: include_str!("../descriptor/input.schema.json").to_owned(),
            tools: TOOLS.iter().map(Tool::declared).collect(),
            migrations: migrations(&[include_str!("../migrations/0001_retail.sql")]),
            max_steps: 30,
        }
    }

    fn input(task: &Task) -> Result<Input, Vec<Violation>> {
        Input::parse(&task.input)
    }

    /// The task itself: another task may well cancel another order of the same customer, or give an
    /// address back to what it was.
    fn subject(request: &Request<Input>) -> String {
        request.task.id.clone()
    }

    /// Reads have none: they see the data as they are, each time. A change whose arguments cannot be
    /// read is in no accepted plan.
    fn operation_key(_: &Task, tool: &str, arguments: Option<&str>) -> Option<String> {
        let tool = Tool::named(tool).filter(|tool| tool.writes())?;
        let arguments = Arguments::parse(tool.parameters, arguments?).ok()?;
        Some(operation::key(tool, &arguments))
    }

    fn check_plan(_: &Request<Input>, snapshot: &Snapshot, plan: &Plan) -> Vec<Violation> {
        plan::check(snapshot, plan)
    }

    fn conclude(
        _: &Request<Input>,
        snapshot: &Snapshot,
        completed: &[Completed],
    ) -> Result<Conclusion, Vec<Violation>> {
        let outcome = conclusion::conclude(snapshot, completed)?;
        Ok(Conclusion {
            result: json(&outcome),
            summary: outcome.summary(),
            artifacts: Vec::new(),
        })
    }

    fn snapshot(request: &Request<Input>, tx: &Tx<'_>) -> Result<Snapshot, Failure> {
        Ok(Snapshot::read(&request.task.id, &request.input, tx)?)
    }

    fn perform(request: &Request<Input>, step: &Step, tx: &Tx<'_>) -> Result<Answer, Failure> {
        let tool = Tool::named(&step.tool)
            .ok_or_else(|| Failure::Rejected(format!("there is no tool {}", quoted(&step.tool))))?;
        let arguments = step.arguments.as_deref().unwrap_or("{}");
        let arguments = Arguments::parse(tool.parameters, arguments).map_err(|faults| {
            let messages: Vec<_> = faults.into_iter().map(|fault| fault.message).collect();
            Failure::Rejected(messages.join("; "))
        })?;
        tool.perform(&request.task.id, &arguments, tx)
    }
}
