//! The contract's questions, handed to the rules.

use wharf_plugin::{
    Answer, Artifact, Completed, Conclusion, Descriptor, Failure, Plan, Plugin, Request, Step,
    Task, Tx, Violation, json, migrations, quoted,
};

use crate::descriptor::{INPUT_SCHEMA, INSTRUCTIONS, MAX_STEPS, MIGRATIONS};
use crate::input::Input;
use crate::snapshot::Snapshot;
use crate::tool::Tool;
use crate::{conclusion, perform, plan, store};

/// The plugin.
pub struct Fulfillment;

wharf_plugin::export!(Fulfillment);

impl Plugin for Fulfillment {
    type Input = Input;
    type Snapshot = Snapshot;

    fn describe() -> Descriptor {
        Descriptor {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: INSTRUCTIONS.to_owned(),
            input_schema: INPUT_SCHEMA.to_owned(),
            tools: Tool::ALL.map(Tool::declared).to_vec(),
            migrations: migrations(&MIGRATIONS),
            max_steps: MAX_STEPS,
        }
    }

    fn input(task: &Task) -> Result<Input, Vec<Violation>> {
        Input::parse(&task.input)
    }

    fn subject(request: &Request<Input>) -> String {
        request.input.order_id.clone()
    }

    fn operation_key(_: &Task, tool: &str, _: Option<&str>) -> Option<String> {
        Some(Tool::named(tool)?.operation().key().to_owned())
    }

    fn check_plan(request: &Request<Input>, snapshot: &Snapshot, plan: &Plan) -> Vec<Violation> {
        plan::check(&request.input, snapshot, plan)
    }

    fn conclude(
        request: &Request<Input>,
        snapshot: &Snapshot,
        completed: &[Completed],
    ) -> Result<Conclusion, Vec<Violation>> {
        let fulfilled = conclusion::conclude(&request.input, snapshot, completed)?;
        Ok(Conclusion {
            result: json(&fulfilled.receipt),
            summary: fulfilled.receipt.summary(),
            artifacts: vec![Artifact {
                name: "shipment.json".to_owned(),
                media_type: "application/json".to_owned(),
                content: fulfilled.record.into_bytes(),
            }],
        })
    }

    fn snapshot(request: &Request<Input>, tx: &Tx<'_>) -> Result<Snapshot, Failure> {
        Ok(store::read(tx, &request.input.order_id)?.snapshot)
    }

    fn perform(request: &Request<Input>, step: &Step, tx: &Tx<'_>) -> Result<Answer, Failure> {
        let Request { task, input } = request;
        let tool = Tool::named(&step.tool)
            .ok_or_else(|| Failure::Rejected(format!("there is no tool {}", quoted(&step.tool))))?;
        let facts = store::read(tx, &input.order_id)?;
        let record = perform::decide(tool, &task.id, input, &facts)?;
        store::write(tx, tool.operation(), &record)?;
        Ok(Answer::done(record.state.clone(), &record))
    }
}
