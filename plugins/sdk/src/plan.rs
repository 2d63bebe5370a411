//! What most domains ask of a plan's form. Each function lists every fault it finds, each once.

use std::collections::BTreeSet;

use crate::{Step, Tool, Violation, quoted};

/// The steps form one chain: unique ids, each step after the one before it and nothing else.
pub fn chain(steps: &[Step]) -> Vec<Violation> {
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    let mut previous: Option<&Step> = None;
    for step in steps {
        if !ids.insert(&step.id) {
            let message = format!("another step has the id {} already", quoted(&step.id));
            faults.push(Violation::new("duplicate-step-id", message).at(step));
        }
        if !step.depends_on.iter().eq(previous.map(|step| &step.id)) {
            let rule = previous.map_or("nothing".to_owned(), |step| quoted(&step.id));
            let message = format!("the step must depend on {rule} alone");
            faults.push(Violation::new("wrong-depends-on", message).at(step));
        }
        previous = Some(step);
    }
    faults
}

/// The step names a tool of the list.
pub fn known<'t>(tools: &'t [Tool], step: &Step) -> Result<&'t Tool, Violation> {
    let found = tools.iter().find(|tool| tool.name == step.tool);
    found.ok_or_else(|| {
        let message = format!("there is no tool {}", quoted(&step.tool));
        Violation::new("unknown-tool", message).at(step)
    })
}

/// The step expects the tool's postcondition, and has arguments exactly if the tool takes some. What
/// they are is the tool's matter.
pub fn form(tool: &Tool, step: &Step) -> Vec<Violation> {
    let mut faults = Vec::new();
    let Tool {
        name,
        postcondition,
        ..
    } = tool;
    if step.expected != *postcondition {
        let expected = quoted(&step.expected);
        let message = format!("`{name}` leads to `{postcondition}`, not {expected}");
        faults.push(Violation::new("wrong-expected", message).at(step));
    }
    match (&tool.arguments, &step.arguments) {
        (None, Some(_)) => {
            let message = format!("`{name}` takes no arguments");
            faults.push(Violation::new("unexpected-arguments", message).at(step));
        }
        (Some(_), None) => {
            let message = format!("`{name}` takes arguments");
            faults.push(Violation::new("missing-arguments", message).at(step));
        }
        _ => {}
    }
    faults
}
