//! What a tool says of itself.

use std::{num::NonZeroU32, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a tool may take unless it says otherwise.
pub const STANDARD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a tool over the memory may take.
pub const MEMORY_TIMEOUT: Duration = Duration::from_secs(5);

/// One tool, as a model is told of it and as the runtime holds it to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDescriptor {
    /// 1 to 64 of `[A-Za-z0-9_-]`, which every provider takes.
    pub name: String,
    /// What it does and when to use it, for the model: 1 to 4000 characters.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of its arguments, which are one object. Enforced before the call.
    pub input_schema: Value,
    /// The JSON Schema of its result. Enforced after the call.
    pub output_schema: Option<Value>,
    /// Whether it may be called.
    pub permission: ToolPermission,
    /// How long a call may take, waiting for its turn included; not zero.
    pub timeout: Duration,
    /// How many calls may run at once, over all agents of one runtime; none: any number.
    pub concurrency: Option<NonZeroU32>,
    /// Calling it twice with the same arguments does no more than calling it once: a call whose outcome a crash lost is then
    /// made again, instead of being reported to the model as unknown.
    pub idempotent: bool,
    /// What it does to the world; told to clients, not enforced.
    pub effect: ToolEffect,
    /// The list of tools up to and with this one stays the same from question to question. `ModelPlanner` marks the last such tool
    /// for providers that keep a prompt's beginning where they are told to (`mark_prompt_cache`).
    pub cache_hint: bool,
}

impl ToolDescriptor {
    /// A tool that may be called, within [`STANDARD_TIMEOUT`], by any number at once; not idempotent; it changes something.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            output_schema: None,
            permission: ToolPermission::Allow,
            timeout: STANDARD_TIMEOUT,
            concurrency: None,
            idempotent: false,
            effect: ToolEffect::Write,
            cache_hint: false,
        }
    }

    /// With a schema of its result.
    #[must_use]
    pub fn with_output(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// With this permission.
    #[must_use]
    pub const fn with_permission(mut self, permission: ToolPermission) -> Self {
        self.permission = permission;
        self
    }

    /// With this time-out.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// With so many calls at once.
    #[must_use]
    pub const fn with_concurrency(mut self, calls: NonZeroU32) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// Calling it twice does no more than calling it once.
    #[must_use]
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// With this effect. One that only reads is idempotent.
    #[must_use]
    pub const fn with_effect(mut self, effect: ToolEffect) -> Self {
        self.effect = effect;
        self.idempotent |= matches!(effect, ToolEffect::Read);
        self
    }

    /// The tools up to and with this one stay the same.
    #[must_use]
    pub const fn with_cache_hint(mut self) -> Self {
        self.cache_hint = true;
        self
    }
}

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolPermission {
    /// It may.
    Allow,
    /// A person decides about each call.
    Ask,
    /// It may not; the model is told so when it calls it, and is not offered it.
    Deny,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolEffect {
    /// It changes nothing.
    Read,
    /// It adds or changes something.
    Write,
    /// It may remove or overwrite something.
    Destroy,
}
