//! The table of stop reasons: why a task ended, and what that says of it.

use serde::{Deserialize, Serialize};

/// Why a task ended. Every one publishes a report and is terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// The plugin verified the result.
    Completed,
    /// A plan, found justified by the plugin, asks for a person.
    NeedsHuman,
    /// The model's answer was no plan, or host or plugin refused it.
    InvalidPlan,
    /// After a changed environment the model proposed the same again for the same snapshot.
    Stalled,
    /// The search ended at its bound.
    PlannerLimit,
    /// The plugin rejected a step for good.
    StepFailed,
    /// The subject belongs to another input.
    SubjectConflict,
    /// The plugin did not confirm the result.
    ConclusionRefused,
    /// No model attempt is left.
    MaxPlans,
    /// No action is left.
    MaxActions,
    /// The deadline has passed.
    Deadline,
}

/// What a stop reason says of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Done and verified.
    Completed,
    /// A person decides.
    NeedsHuman,
    /// Some steps may be done; no result is claimed.
    Partial,
}

impl StopReason {
    /// The status of a task that ended so.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Completed => Status::Completed,
            Self::NeedsHuman => Status::NeedsHuman,
            _ => Status::Partial,
        }
    }

    /// Its stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NeedsHuman => "needs-human",
            Self::InvalidPlan => "invalid-plan",
            Self::Stalled => "stalled",
            Self::PlannerLimit => "planner-limit",
            Self::StepFailed => "step-failed",
            Self::SubjectConflict => "subject-conflict",
            Self::ConclusionRefused => "conclusion-refused",
            Self::MaxPlans => "max-plans",
            Self::MaxActions => "max-actions",
            Self::Deadline => "deadline",
        }
    }
}

impl Status {
    /// Its stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NeedsHuman => "needs-human",
            Self::Partial => "partial",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_what_is_written() {
        for reason in [
            StopReason::Completed,
            StopReason::NeedsHuman,
            StopReason::ConclusionRefused,
            StopReason::MaxPlans,
        ] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.code());
            assert_eq!(
                serde_json::to_value(reason.status()).unwrap(),
                reason.status().code()
            );
        }
    }
}
