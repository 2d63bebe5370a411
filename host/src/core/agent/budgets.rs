//! Budgets and deadline of an agent: counted before the call they pay for, never over their limit, restored by folding the
//! journal. Tokens are known only when an answer is there: they end the task before the next turn.

use jiff::Timestamp;

use super::{request::AgentBudgets, stop::AgentStop};
use crate::core::ports::model::Usage;

/// What a task has spent. A counter moves when the intent is folded, hence before the call, and it never moves back.
#[derive(Debug, Clone)]
pub struct AgentSpending {
    budgets: AgentBudgets,
    turns: u32,
    tool_calls: u32,
    tokens: Usage,
}

impl AgentSpending {
    /// Nothing spent.
    #[must_use]
    pub const fn new(budgets: AgentBudgets) -> Self {
        Self {
            budgets,
            turns: 0,
            tool_calls: 0,
            tokens: Usage {
                prompt_tokens: 0,
                completion_tokens: 0,
            },
        }
    }

    /// Turns reserved.
    #[must_use]
    pub const fn turns(&self) -> u32 {
        self.turns
    }

    /// Tool calls reserved.
    #[must_use]
    pub const fn tool_calls(&self) -> u32 {
        self.tool_calls
    }

    /// Tokens counted.
    #[must_use]
    pub const fn tokens(&self) -> Usage {
        self.tokens
    }

    /// The limits.
    #[must_use]
    pub const fn budgets(&self) -> AgentBudgets {
        self.budgets
    }

    /// Whether another turn may be reserved.
    pub(super) fn admit_turn(&self, started: Timestamp, now: Timestamp) -> Result<(), AgentStop> {
        let tokens = self
            .tokens
            .prompt_tokens
            .saturating_add(self.tokens.completion_tokens);
        if self.is_late(started, now) {
            Err(AgentStop::Deadline)
        } else if self.turns >= self.budgets.max_turns {
            Err(AgentStop::MaxTurns)
        } else if tokens >= self.budgets.max_tokens {
            Err(AgentStop::MaxTokens)
        } else {
            Ok(())
        }
    }

    /// Whether another tool call may be reserved.
    pub(super) fn admit_tool_call(
        &self,
        started: Timestamp,
        now: Timestamp,
    ) -> Result<(), AgentStop> {
        if self.is_late(started, now) {
            Err(AgentStop::Deadline)
        } else if self.tool_calls >= self.budgets.max_tool_calls {
            Err(AgentStop::MaxToolCalls)
        } else {
            Ok(())
        }
    }

    /// Reserves a turn; false if none is left.
    #[must_use]
    pub(super) const fn reserve_turn(&mut self) -> bool {
        let left = self.turns < self.budgets.max_turns;
        self.turns += left as u32;
        left
    }

    /// Reserves a tool call; false if none is left.
    #[must_use]
    pub(super) const fn reserve_tool_call(&mut self) -> bool {
        let left = self.tool_calls < self.budgets.max_tool_calls;
        self.tool_calls += left as u32;
        left
    }

    /// Counts the tokens of one answer.
    pub(super) const fn count(&mut self, tokens: Usage) {
        let sum = &mut self.tokens;
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(tokens.prompt_tokens);
        sum.completion_tokens = sum
            .completion_tokens
            .saturating_add(tokens.completion_tokens);
    }

    fn is_late(&self, started: Timestamp, now: Timestamp) -> bool {
        now.duration_since(started) >= self.budgets.deadline()
    }
}
