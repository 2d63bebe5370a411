//! Budgets and deadline: counted before the call they pay for, never over their limit, restored by folding the journal.

use jiff::Timestamp;

use super::stop::StopReason;
use crate::core::request::Budgets;

/// What a task has spent. A counter moves when the intent is folded, hence before the call, and it never moves back.
#[derive(Debug, Clone)]
pub struct Spending {
    budgets: Budgets,
    model_calls: u32,
    action_calls: u32,
    invalid_plans: u32,
}

impl Spending {
    /// Nothing spent.
    #[must_use]
    pub const fn new(budgets: Budgets) -> Self {
        Self {
            budgets,
            model_calls: 0,
            action_calls: 0,
            invalid_plans: 0,
        }
    }

    /// Model attempts reserved.
    #[must_use]
    pub const fn model_calls(&self) -> u32 {
        self.model_calls
    }

    /// Tool calls reserved.
    #[must_use]
    pub const fn action_calls(&self) -> u32 {
        self.action_calls
    }

    /// Refused plans after which the model was asked again.
    #[must_use]
    pub const fn invalid_plans(&self) -> u32 {
        self.invalid_plans
    }

    /// The limits.
    #[must_use]
    pub const fn budgets(&self) -> Budgets {
        self.budgets
    }

    /// Whether another model attempt may be reserved.
    ///
    /// # Errors
    /// The stop reason if not.
    pub fn admit_plan(&self, started: Timestamp, now: Timestamp) -> Result<(), StopReason> {
        self.admit(
            started,
            now,
            self.model_calls < self.budgets.max_plans,
            StopReason::MaxPlans,
        )
    }

    /// Whether another tool call may be reserved.
    ///
    /// # Errors
    /// The stop reason if not.
    pub fn admit_action(&self, started: Timestamp, now: Timestamp) -> Result<(), StopReason> {
        self.admit(
            started,
            now,
            self.action_calls < self.budgets.max_actions,
            StopReason::MaxActions,
        )
    }

    /// Reserves a model attempt; false if none is left.
    #[must_use]
    pub fn reserve_plan(&mut self) -> bool {
        reserve(&mut self.model_calls, self.budgets.max_plans)
    }

    /// Reserves a tool call; false if none is left.
    #[must_use]
    pub fn reserve_action(&mut self) -> bool {
        reserve(&mut self.action_calls, self.budgets.max_actions)
    }

    /// Counts a refused plan; false if it is one too many.
    #[must_use]
    pub fn forgive_plan(&mut self) -> bool {
        reserve(&mut self.invalid_plans, self.budgets.max_invalid_plans)
    }

    fn admit(
        &self,
        started: Timestamp,
        now: Timestamp,
        left: bool,
        exhausted: StopReason,
    ) -> Result<(), StopReason> {
        if now.duration_since(started) >= self.budgets.deadline() {
            Err(StopReason::Deadline)
        } else if left {
            Ok(())
        } else {
            Err(exhausted)
        }
    }
}

fn reserve(counter: &mut u32, limit: u32) -> bool {
    let left = *counter < limit;
    *counter += u32::from(left);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_never_exceeds_its_limit() {
        let mut spending = Spending::new(Budgets {
            max_plans: 1,
            max_actions: 0,
            deadline_seconds: 10,
            max_invalid_plans: 1,
        });
        assert!(spending.forgive_plan());
        assert!(!spending.forgive_plan());
        assert_eq!(spending.invalid_plans(), 1);
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(spending.admit_plan(at(0), at(9)), Ok(()));
        assert!(spending.reserve_plan());
        assert_eq!(spending.admit_plan(at(0), at(9)), Err(StopReason::MaxPlans));
        assert!(!spending.reserve_plan());
        assert_eq!(spending.model_calls(), 1);
        assert_eq!(
            spending.admit_action(at(0), at(0)),
            Err(StopReason::MaxActions)
        );
        assert!(!spending.reserve_action());
    }

    #[test]
    fn the_deadline_counts_wall_time_since_admission() {
        let spending = Spending::new(Budgets {
            max_plans: 1,
            max_actions: 1,
            deadline_seconds: 10,
            max_invalid_plans: 0,
        });
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(spending.admit_action(at(100), at(109)), Ok(()));
        assert_eq!(
            spending.admit_action(at(100), at(110)),
            Err(StopReason::Deadline)
        );
        assert_eq!(
            spending.admit_plan(at(100), at(5000)),
            Err(StopReason::Deadline)
        );
    }
}
