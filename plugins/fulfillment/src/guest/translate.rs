//! Between the contract's records and the types of the rules.

use serde::Serialize;

use super::bindings::exports::wharf::domain::tools::Failure;
use super::bindings::wharf::domain::types;
use crate::conclusion::{Completed, Conclusion};
use crate::perform::Refusal;
use crate::plan::{Plan, Status, Step};
use crate::violation::Violation;

impl From<types::Plan> for Plan {
    fn from(plan: types::Plan) -> Self {
        Self {
            status: match plan.status {
                types::PlanStatus::Ready => Status::Ready,
                types::PlanStatus::NeedsHuman => Status::NeedsHuman,
            },
            steps: plan.steps.into_iter().map(Step::from).collect(),
        }
    }
}

impl From<types::Step> for Step {
    fn from(step: types::Step) -> Self {
        Self {
            id: step.id,
            tool: step.tool,
            depends_on: step.depends_on,
            expected: step.expected,
            has_arguments: step.arguments.is_some(),
        }
    }
}

impl From<types::Completed> for Completed {
    fn from(completed: types::Completed) -> Self {
        Self {
            tool: completed.step.tool,
            data: completed.data,
        }
    }
}

impl From<Conclusion> for types::Conclusion {
    fn from(Conclusion { receipt, record }: Conclusion) -> Self {
        Self {
            result: json(&receipt),
            summary: receipt.summary(),
            artifacts: vec![types::Artifact {
                name: "shipment.json".to_owned(),
                media_type: "application/json".to_owned(),
                content: record.into_bytes(),
            }],
        }
    }
}

impl From<Violation> for types::Violation {
    fn from(violation: Violation) -> Self {
        Self {
            code: violation.code.to_owned(),
            message: violation.message,
            step: violation.step,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::EnvironmentChanged(message) => Self::EnvironmentChanged(message),
            Refusal::Rejected(message) => Self::Rejected(message),
        }
    }
}

/// Plain data of the rules as JSON text.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form")
}
