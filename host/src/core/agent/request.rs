//! The immutable request of one agent's task.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::{
    core::{
        ports::permission::Acting,
        request::{REQUEST_BOUNDS, RequestError},
        tools::toolbox::MAX_TOOLS,
    },
    words::{
        digest::Digest,
        id::{PrincipalId, TaskId, TenantId},
        json,
    },
};

/// The most characters of a prompt.
pub const MAX_PROMPT_CHARS: usize = 50_000;

/// One immutable request. Made only by [`AgentRequest::read`], so that whoever holds one holds a checked one.
#[derive(Debug, Clone)]
pub struct AgentRequest {
    /// What was asked.
    pub fields: AgentFields,
    fingerprint: Digest,
    text: String,
}

/// The fields of an agent's request, as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentFields {
    /// Names the task.
    pub id: TaskId,
    /// Whose workspace.
    pub tenant: TenantId,
    /// Who asks.
    pub principal: PrincipalId,
    /// Which agent is to do it; the source of what it writes.
    pub agent: PrincipalId,
    /// What is wanted: 1 to 50,000 characters, not blank, no NUL.
    pub prompt: String,
    /// What it may cost.
    pub budgets: AgentBudgets,
    /// Tools each of whose calls a person decides about, whatever they say of themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Tools that it may not call, whatever they say of themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// What an agent's task may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentBudgets {
    /// Questions to the model, those that failed included: 1 to 100.
    pub max_turns: u32,
    /// Tool calls: 0 to 400.
    pub max_tool_calls: u32,
    /// Tokens asked and answered, over all turns: 1 to 100,000,000. No turn begins once they are used up. Where the provider
    /// does not count, four bytes of text count one.
    pub max_tokens: u64,
    /// Wall time since admission in seconds, pauses included: 1 to 604,800.
    pub deadline_seconds: u32,
}

impl AgentBudgets {
    /// 50 turns, 200 tool calls, 1,000,000 tokens, one day.
    pub const STANDARD: Self = Self {
        max_turns: 50,
        max_tool_calls: 200,
        max_tokens: 1_000_000,
        deadline_seconds: 86_400,
    };

    /// The deadline as a duration.
    #[must_use]
    pub fn deadline(&self) -> SignedDuration {
        SignedDuration::from_secs(self.deadline_seconds.into())
    }
}

impl AgentRequest {
    /// Reads a request from its JSON text.
    ///
    /// # Errors
    /// Anything that is not the documented form, within the documented bounds.
    pub fn read(text: &str) -> Result<Self, RequestError> {
        let value = json::parse_strict(text, REQUEST_BOUNDS).map_err(RequestError::NotJson)?;
        let fingerprint = Digest::of(json::canonical(&value));
        let fields: AgentFields = serde_json::from_value(value).map_err(RequestError::Form)?;
        check(&fields)?;
        Ok(Self {
            fields,
            fingerprint,
            text: text.to_owned(),
        })
    }

    /// The request with these fields.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn new(fields: &AgentFields) -> Result<Self, RequestError> {
        let mut text = serde_json::to_string_pretty(fields).map_err(RequestError::Form)?;
        text.push('\n');
        Self::read(&text)
    }

    /// The SHA-256 of the canonical JSON of the whole request.
    #[must_use]
    pub const fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    /// The text it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Who acts for it.
    #[must_use]
    pub const fn acting(&self) -> Acting<'_> {
        Acting {
            task: &self.fields.id,
            principal: &self.fields.principal,
            fingerprint: self.fingerprint,
        }
    }
}

fn check(fields: &AgentFields) -> Result<(), RequestError> {
    let prompt = &fields.prompt;
    let budgets = &fields.budgets;
    let checks = [
        (
            "prompt",
            "1 to 50000 characters, not blank, no NUL",
            !prompt.trim().is_empty()
                && !prompt.contains('\0')
                && prompt.chars().count() <= MAX_PROMPT_CHARS,
        ),
        (
            "ask or deny",
            "at most 128 names of tools in each",
            fields.ask.len() <= MAX_TOOLS && fields.deny.len() <= MAX_TOOLS,
        ),
        (
            "budgets.maxTurns",
            "1 to 100",
            (1..=100).contains(&budgets.max_turns),
        ),
        (
            "budgets.maxToolCalls",
            "0 to 400",
            budgets.max_tool_calls <= 400,
        ),
        (
            "budgets.maxTokens",
            "1 to 100000000",
            (1..=100_000_000).contains(&budgets.max_tokens),
        ),
        (
            "budgets.deadlineSeconds",
            "1 to 604800",
            (1..=604_800).contains(&budgets.deadline_seconds),
        ),
    ];
    match checks.into_iter().find(|(_, _, holds)| !holds) {
        Some((field, allowed, _)) => Err(RequestError::OutOfBounds { field, allowed }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::words::error::{Error, Kind};

    fn text(change: impl FnOnce(&mut Value)) -> String {
        let mut value = json!({
            "id": "t", "tenant": "a", "principal": "p", "agent": "one", "prompt": "Do it",
            "budgets": {"maxTurns": 5, "maxToolCalls": 5, "maxTokens": 1000, "deadlineSeconds": 60},
        });
        change(&mut value);
        value.to_string()
    }

    #[test]
    fn every_bound_of_an_agents_request_is_enforced() {
        assert!(AgentRequest::read(&text(|_| ())).is_ok());
        let refused = |change: fn(&mut Value), code: &str| {
            let error = Error::from(AgentRequest::read(&text(change)).unwrap_err());
            assert_eq!((error.code(), error.kind()), (code, Kind::InvalidInput));
        };
        let bounds = "request-out-of-bounds";
        refused(|v| v["prompt"] = " ".into(), bounds);
        refused(|v| v["prompt"] = "a\0".into(), bounds);
        refused(|v| v["prompt"] = "x".repeat(50_001).into(), bounds);
        refused(|v| v["budgets"]["maxTurns"] = 0.into(), bounds);
        refused(|v| v["budgets"]["maxTurns"] = 101.into(), bounds);
        refused(|v| v["budgets"]["maxToolCalls"] = 401.into(), bounds);
        refused(|v| v["budgets"]["maxTokens"] = 0.into(), bounds);
        refused(|v| v["budgets"]["deadlineSeconds"] = 0.into(), bounds);
        refused(|v| v["agent"] = "a b".into(), "request-form");
        refused(|v| v["more"] = 1.into(), "request-form");
    }

    #[test]
    fn a_request_that_was_made_here_is_read_back_the_same() {
        let read = AgentRequest::read(&text(|_| ())).unwrap();
        let made = AgentRequest::new(&read.fields).unwrap();
        assert_eq!(made.fingerprint(), read.fingerprint());
    }
}
