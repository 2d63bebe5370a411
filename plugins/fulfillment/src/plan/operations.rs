//! The steps are exactly the operations that remain, in order, each by a tool that can perform it.

use wharf_plugin::{Step, Violation, plan, quoted};

use crate::feasibility::{affordable, any_affordable};
use crate::input::Input;
use crate::operation::Operation;
use crate::snapshot::Snapshot;
use crate::tool::Tool;

pub(super) fn faults(input: &Input, snapshot: &Snapshot, steps: &[Step]) -> Vec<Violation> {
    if steps.is_empty() {
        let message = "a plan without steps leaves the order without a receipt";
        return vec![Violation::new("empty-plan", message)];
    }
    let mut faults = Vec::new();
    let mut planned: Vec<(Operation, &Step)> = Vec::new();
    for step in steps {
        let Some(tool) = Tool::named(&step.tool) else {
            let message = format!("there is no tool {}", quoted(&step.tool));
            faults.push(Violation::new("unknown-tool", message).at(step));
            continue;
        };
        faults.extend(plan::form(&tool.declared(), step));

        let operation = tool.operation();
        if operation.precondition() < snapshot.state {
            let message = format!(
                "the order is {} already; `{}` is done",
                snapshot.state,
                operation.key()
            );
            faults.push(Violation::new("operation-done", message).at(step));
        } else if let Some((_, first)) = planned.iter().find(|(planned, _)| *planned == operation) {
            let message = format!(
                "step {} performs `{}` already",
                quoted(&first.id),
                operation.key()
            );
            faults.push(Violation::new("duplicate-operation", message).at(step));
        } else {
            planned.push((operation, step));
            faults.extend(rate_fault(input, snapshot, tool, step));
        }
    }
    faults.extend(missing(snapshot, &planned));
    faults.extend(misplaced(&planned));
    faults
}

/// With no affordable carrier at all the fault is not the step's: `feasibility` reports it.
fn rate_fault(input: &Input, snapshot: &Snapshot, tool: Tool, step: &Step) -> Option<Violation> {
    match tool {
        Tool::Ship(carrier)
            if any_affordable(input, snapshot) && !affordable(input, snapshot, carrier) =>
        {
            let message = format!(
                "the {carrier} carrier has no rate within {} cents",
                input.max_shipping_cents
            );
            Some(Violation::new("unaffordable-carrier", message).at(step))
        }
        _ => None,
    }
}

fn missing(snapshot: &Snapshot, planned: &[(Operation, &Step)]) -> Vec<Violation> {
    Operation::remaining_from(snapshot.state)
        .filter(|operation| planned.iter().all(|(planned, _)| planned != operation))
        .map(|operation| {
            Violation::new(
                "missing-operation",
                format!("no step performs `{}`", operation.key()),
            )
        })
        .collect()
}

/// A wrong order is one fault, reported where it first shows.
fn misplaced(planned: &[(Operation, &Step)]) -> Option<Violation> {
    let [(later, _), (earlier, step)] = planned.windows(2).find_map(|pair| match pair {
        [before, after] if before.0 > after.0 => Some([before, after]),
        _ => None,
    })?;
    let message = format!("`{}` must come before `{}`", earlier.key(), later.key());
    Some(Violation::new("wrong-order", message).at(step))
}
