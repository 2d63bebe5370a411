//! What may be claimed of the completed steps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wharf_plugin::{Completed, Violation, quoted};

use crate::snapshot::Snapshot;
use crate::tool::Tool;

/// What the report says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Steps that looked something up.
    pub reads: usize,
    /// Steps that carried a change out.
    pub writes: usize,
    /// Those among them after which something was different.
    pub changes: usize,
    /// Steps of either kind that were refused.
    pub declined: usize,
    /// All steps, in order.
    pub answers: Vec<Answer>,
}

/// How one step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Its tool.
    pub tool: String,
    /// False: it was refused.
    pub ok: bool,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Outcome {
    /// One line for people.
    pub fn summary(&self) -> String {
        let Self {
            reads,
            writes,
            changes,
            declined,
            ..
        } = self;
        format!(
            "{reads} looked up, {writes} carried out ({changes} changed something), {declined} declined"
        )
    }
}

/// Compares what was completed with what the shop says that this task has carried out: every change
/// once, and no other.
pub fn conclude(snapshot: &Snapshot, completed: &[Completed]) -> Result<Outcome, Vec<Violation>> {
    let mut faults = Vec::new();
    let mut answers = Vec::with_capacity(completed.len());
    let mut noted: BTreeMap<&str, usize> = BTreeMap::new();
    for done in &snapshot.operations {
        *noted.entry(&done.operation_key).or_default() += 1;
    }
    let (mut reads, mut writes) = (0, 0);
    for done in completed {
        let error = declined_with(done);
        match (&done.operation_key, &error) {
            (_, Some(_)) => {}
            (None, None) => reads += 1,
            (Some(key), None) => {
                writes += 1;
                match noted.remove(key.as_str()) {
                    Some(1) => {}
                    Some(times) => {
                        let message = format!("{} was carried out {times} times", quoted(key));
                        faults.push(Violation::new("operation-repeated", message).at(&done.step));
                    }
                    None => {
                        let message = format!("{} has left no trace", quoted(key));
                        faults.push(Violation::new("operation-missing", message).at(&done.step));
                    }
                }
            }
        }
        if Tool::named(&done.step.tool)
            .is_none_or(|tool| tool.writes() != done.operation_key.is_some())
        {
            let message = format!("{} is no step of this plugin", quoted(&done.step.tool));
            faults.push(Violation::new("foreign-step", message).at(&done.step));
        }
        answers.push(Answer {
            tool: done.step.tool.clone(),
            ok: error.is_none(),
            error,
        });
    }
    for key in noted.keys() {
        let message = format!("{} was carried out by no completed step", quoted(key));
        faults.push(Violation::new("operation-unknown", message));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let changes = snapshot
        .operations
        .iter()
        .filter(|done| done.changed)
        .count();
    Ok(Outcome {
        reads,
        writes,
        changes,
        declined: answers.len() - reads - writes,
        answers,
    })
}

/// The words of a refusal; none: the step was done.
fn declined_with(done: &Completed) -> Option<String> {
    #[derive(Deserialize)]
    struct Declined {
        error: String,
    }
    if !done.declined {
        return None;
    }
    let declined: Result<Declined, _> = serde_json::from_str(&done.data);
    Some(declined.map_or_else(|_| "no reason given".to_owned(), |it| it.error))
}

#[cfg(test)]
mod tests {
    use wharf_plugin::testing::step;

    use super::*;
    use crate::snapshot::Committed;

    fn completed(id: &str, tool: &str, key: Option<&str>) -> Completed {
        Completed {
            step: step(id, tool, "answered", Some("{}")),
            operation_key: key.map(str::to_owned),
            declined: false,
            data: "{}".to_owned(),
        }
    }

    fn declined(id: &str, tool: &str, key: Option<&str>) -> Completed {
        Completed {
            declined: true,
            data: r#"{"code": "order-not-found", "error": "Order not found"}"#.to_owned(),
            ..completed(id, tool, key)
        }
    }

    fn snapshot(operations: &[(&str, bool)]) -> Snapshot {
        Snapshot {
            customer: None,
            orders: Vec::new(),
            products: Vec::new(),
            operations: operations
                .iter()
                .map(|(key, changed)| Committed {
                    operation_key: (*key).to_owned(),
                    tool: "cancel_pending_order".to_owned(),
                    changed: *changed,
                })
                .collect(),
        }
    }

    fn codes(snapshot: &Snapshot, completed: &[Completed]) -> Vec<String> {
        let faults = conclude(snapshot, completed).expect_err("a refused conclusion");
        faults.into_iter().map(|fault| fault.code).collect()
    }

    #[test]
    fn every_step_is_counted_as_what_it_was() {
        let completed = [
            completed("s1", "calculate", None),
            declined("s2", "get_order_details", None),
            completed("s3", "cancel_pending_order", Some("a")),
            completed("s4", "modify_user_address", Some("b")),
            declined("s5", "cancel_pending_order", Some("c")),
        ];
        let outcome = conclude(&snapshot(&[("a", true), ("b", false)]), &completed);
        let outcome = outcome.expect("an outcome");
        assert_eq!(
            outcome.summary(),
            "1 looked up, 2 carried out (1 changed something), 2 declined"
        );
        let ok: Vec<_> = outcome.answers.iter().map(|answer| answer.ok).collect();
        assert_eq!(ok, [true, false, true, true, false]);
        assert_eq!(outcome.answers[1].error.as_deref(), Some("Order not found"));
    }

    #[test]
    fn nothing_to_do_is_an_outcome() {
        let outcome = conclude(&snapshot(&[]), &[]).expect("an outcome");
        assert_eq!((outcome.reads, outcome.writes, outcome.declined), (0, 0, 0));
    }

    #[test]
    fn a_change_that_was_carried_out_twice_or_not_at_all_or_unasked_is_found() {
        let cancelled = [completed("s1", "cancel_pending_order", Some("a"))];
        assert_eq!(
            codes(&snapshot(&[("a", true), ("a", true)]), &cancelled),
            ["operation-repeated"]
        );
        assert_eq!(codes(&snapshot(&[]), &cancelled), ["operation-missing"]);
        assert_eq!(
            codes(&snapshot(&[("a", true), ("b", true)]), &cancelled),
            ["operation-unknown"]
        );
        let refused = [declined("s1", "cancel_pending_order", Some("a"))];
        assert_eq!(
            codes(&snapshot(&[("a", true)]), &refused),
            ["operation-unknown"]
        );
    }

    #[test]
    fn a_step_of_another_plugin_is_found() {
        let foreign = [completed("s1", "pack_order", None)];
        assert_eq!(codes(&snapshot(&[]), &foreign), ["foreign-step"]);
    }
}
