//! The pure half of the contract: no transaction is open.

use super::Fulfillment;
use super::bindings::exports::wharf::domain::validator::Guest;
use super::bindings::wharf::domain::types;
use crate::conclusion::{self, Completed};
use crate::descriptor::{INPUT_SCHEMA, INSTRUCTIONS, MAX_STEPS, MIGRATIONS};
use crate::input::Input;
use crate::operation::Operation;
use crate::plan::{self, Plan};
use crate::snapshot::Snapshot;
use crate::tool::Tool;
use crate::violation::Violation;

impl Guest for Fulfillment {
    fn describe() -> types::Descriptor {
        types::Descriptor {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: INSTRUCTIONS.to_owned(),
            input_schema: INPUT_SCHEMA.to_owned(),
            tools: Tool::ALL.map(described).to_vec(),
            migrations: (1..)
                .zip(MIGRATIONS)
                .map(|(version, sql)| types::Migration {
                    version,
                    sql: sql.to_owned(),
                })
                .collect(),
            max_steps: MAX_STEPS,
        }
    }

    fn check_task(task: types::Task) -> Result<String, Vec<types::Violation>> {
        Ok(input(&task)?.order_id)
    }

    /// None for a tool that does not exist. The host refuses it before it asks; should it not, a read
    /// without a ledger row does no harm, and `perform` rejects it.
    fn operation_key(_: types::Task, tool: String, _: Option<String>) -> Option<String> {
        Some(Tool::named(&tool)?.operation().key().to_owned())
    }

    fn check_plan(
        task: types::Task,
        snapshot: String,
        plan: types::Plan,
    ) -> Result<(), Vec<types::Violation>> {
        let faults = plan::check(&input(&task)?, &parsed(&snapshot)?, &Plan::from(plan));
        if faults.is_empty() {
            Ok(())
        } else {
            Err(violations(faults))
        }
    }

    fn conclude(
        task: types::Task,
        snapshot: String,
        completed: Vec<types::Completed>,
    ) -> Result<types::Conclusion, Vec<types::Violation>> {
        let completed: Vec<_> = completed.into_iter().map(Completed::from).collect();
        conclusion::conclude(&input(&task)?, &parsed(&snapshot)?, &completed)
            .map(types::Conclusion::from)
            .map_err(violations)
    }
}

fn input(task: &types::Task) -> Result<Input, Vec<types::Violation>> {
    Input::parse(&task.input).map_err(violations)
}

/// The host hands a snapshot back as this plugin wrote it; any other text is a fault, not a trap.
fn parsed(snapshot: &str) -> Result<Snapshot, Vec<types::Violation>> {
    serde_json::from_str(snapshot).map_err(|error| {
        let message = format!("the snapshot is not this plugin's: {error}");
        violations(vec![Violation::new("unreadable-snapshot", message)])
    })
}

fn violations(faults: Vec<Violation>) -> Vec<types::Violation> {
    faults.into_iter().map(types::Violation::from).collect()
}

fn described(tool: Tool) -> types::Tool {
    types::Tool {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        effect: match tool.operation() {
            Operation::Receipt => types::Effect::Read,
            Operation::Reserve | Operation::Pack | Operation::Ship => types::Effect::Write,
        },
        postcondition: tool.operation().postcondition().to_owned(),
        arguments: None,
    }
}
