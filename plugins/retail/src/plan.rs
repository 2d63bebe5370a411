//! Whether a proposed plan may be executed.
//!
//! Whether a change will be refused is not asked here: a refusal is an answer, which the plan may well
//! be after. What is asked: that every call can be made, that none is made twice, and that nobody
//! else's orders are touched.

use std::collections::BTreeMap;

use wharf_plugin::{Plan, PlanStatus, Step, Violation, plan, quoted};

use crate::arguments::Arguments;
use crate::operation;
use crate::snapshot::Snapshot;
use crate::tool::{Call, Tool};

/// Every fault of the plan, each once; empty: it may be executed.
pub fn check(snapshot: &Snapshot, plan: &Plan) -> Vec<Violation> {
    match plan.status {
        PlanStatus::Ready => ready(snapshot, &plan.steps),
        // The goal is free text: whether a person is needed is for people and models to say.
        PlanStatus::NeedsHuman if plan.steps.is_empty() => Vec::new(),
        PlanStatus::NeedsHuman => {
            let message = "a plan that needs a person has no steps";
            vec![Violation::new("escalation-with-steps", message)]
        }
    }
}

fn ready(snapshot: &Snapshot, steps: &[Step]) -> Vec<Violation> {
    let mut faults = plan::chain(steps);
    let mut planned: BTreeMap<String, &Step> = BTreeMap::new();
    for step in steps {
        let Some(tool) = Tool::named(&step.tool) else {
            let message = format!("there is no tool {}", quoted(&step.tool));
            faults.push(Violation::new("unknown-tool", message).at(step));
            continue;
        };
        faults.extend(plan::form(&tool.declared(), step));
        let Some(arguments) = &step.arguments else {
            continue;
        };
        let arguments = match Arguments::parse(tool.parameters, arguments) {
            Ok(arguments) => arguments,
            Err(wrong) => {
                faults.extend(wrong.into_iter().map(|fault| fault.at(step)));
                continue;
            }
        };
        if !tool.writes() {
            continue;
        }
        faults.extend(foreign(snapshot, tool, &arguments).map(|fault| fault.at(step)));
        let key = operation::key(tool, &arguments);
        if snapshot
            .operations
            .iter()
            .any(|done| done.operation_key == key)
        {
            let message = "the task has carried this out already";
            faults.push(Violation::new("operation-done", message).at(step));
        } else if let Some(first) = planned.get(&key) {
            let message = format!("step {} makes the same change already", quoted(&first.id));
            faults.push(Violation::new("duplicate-operation", message).at(step));
        } else {
            planned.insert(key, step);
        }
    }
    faults
}

/// A change must concern the customer whom the task is for.
fn foreign(snapshot: &Snapshot, tool: &Tool, arguments: &Arguments) -> Option<Violation> {
    let Some(customer) = &snapshot.customer else {
        let message = "without a known customer a plan can only look things up";
        return Some(Violation::new("no-customer", message));
    };
    let (own, changed) = match tool.call {
        Call::Read(_) => return None,
        Call::User(_) => {
            let user_id = arguments.text("user_id");
            (customer.user_id == user_id, user_id)
        }
        Call::Order(_) => {
            let order_id = arguments.text("order_id");
            let mut orders = snapshot.orders.iter();
            (orders.any(|order| order.order_id == order_id), order_id)
        }
    };
    if own {
        return None;
    }
    let message = format!(
        "{} does not belong to the customer {}",
        quoted(changed),
        quoted(&customer.user_id)
    );
    Some(Violation::new("not-the-customers", message))
}

#[cfg(test)]
mod tests;
