//! The registry: which tools there are, and what is checked before one of them is called.
//!
//! Owns the rule that a broken call never becomes an effect. Calls themselves are made in `calling.rs`.

use std::{num::NonZeroU32, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{
    descriptor::{ToolDescriptor, ToolEffect, ToolPermission},
    error::ToolError,
    tool::{Course, ToolBody},
};
use crate::{
    core::ports::schemas::{SchemaCheck, Schemas},
    words::{
        error::{Error, Facts, Fault, Kind},
        escape::excerpt,
        json::{self, JsonBounds, JsonText},
    },
};

/// The most that the arguments of one call may take.
pub const ARGUMENTS_BOUNDS: JsonBounds = JsonBounds {
    bytes: 512 * 1024,
    depth: 64,
};

/// The most tools of one toolbox: what providers take.
pub const MAX_TOOLS: usize = 128;

/// Tools by name, in the order in which they were registered. Clones share the tools and their limits.
#[derive(Clone)]
pub struct Toolbox {
    schemas: Arc<dyn Schemas>,
    pub(super) tools: Vec<Arc<Registered>>,
    pub(super) shares_commits: bool,
}

/// One tool, ready to be called.
pub(super) struct Registered {
    pub(super) descriptor: ToolDescriptor,
    pub(super) body: ToolBody,
    pub(super) output: Option<Arc<dyn SchemaCheck>>,
    pub(super) slots: Option<Arc<Semaphore>>,
    input: Arc<dyn SchemaCheck>,
}

/// What is to become of a call that a model asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It is made.
    Run(Course),
    /// It is made if a person approves.
    Ask(Course),
    /// It is not made, and the model is told why.
    Refused(ToolError),
}

impl Toolbox {
    /// An empty one.
    #[must_use]
    pub fn new(schemas: Arc<dyn Schemas>) -> Self {
        Self {
            schemas,
            tools: Vec::new(),
            shares_commits: true,
        }
    }

    /// Over a memory that does not share its commits with the journal: a call whose outcome a crash lost may have had its
    /// effect.
    #[must_use]
    pub const fn over_separate_memory(mut self) -> Self {
        self.shares_commits = false;
        self
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// Its name is taken or no name, a text or a time-out is out of bounds, a schema is refused, or there are [`MAX_TOOLS`].
    pub fn register_tool(
        &mut self,
        descriptor: ToolDescriptor,
        body: ToolBody,
    ) -> Result<(), Error> {
        let name = descriptor.name.clone();
        let refuse = |why: &str| {
            Err(Error::from(ToolboxError {
                name: excerpt(&name, 100),
                why: why.to_owned(),
            }))
        };
        if !is_name(&name) {
            return refuse("a name has 1 to 64 letters, digits, `_` or `-` of ASCII");
        }
        if self.get(&name).is_some() {
            return refuse("there is another tool of this name");
        }
        if self.tools.len() >= MAX_TOOLS {
            return refuse("there are 128 tools already");
        }
        let described = descriptor.description.trim().chars().count();
        if !(1..=4000).contains(&described) {
            return refuse("a description has 1 to 4000 characters");
        }
        if descriptor.timeout.is_zero() {
            return refuse("a time-out of zero leaves no time for any call");
        }
        let compile = |schema: &Value| self.schemas.compile(&name, &JsonText::of(schema));
        let input = compile(&descriptor.input_schema)?;
        let output = descriptor.output_schema.as_ref().map(compile).transpose()?;
        let slots = descriptor
            .concurrency
            .map(NonZeroU32::get)
            .map(|calls| Arc::new(Semaphore::new(calls as usize)));
        self.tools.push(Arc::new(Registered {
            descriptor,
            body,
            output,
            slots,
            input,
        }));
        Ok(())
    }

    /// With narrower permissions: the one list's tools ask, the other's are denied. A tool that is denied already stays so.
    ///
    /// # Errors
    /// A name that no tool has.
    pub fn restricted(mut self, ask: &[String], deny: &[String]) -> Result<Self, Error> {
        self.only(ask)?;
        self.only(deny)?;
        for (names, permission) in [(ask, ToolPermission::Ask), (deny, ToolPermission::Deny)] {
            let of_list = self
                .tools
                .iter_mut()
                .filter(|tool| names.contains(&tool.descriptor.name));
            for tool in of_list {
                if tool.descriptor.permission != ToolPermission::Deny {
                    let mut descriptor = tool.descriptor.clone();
                    descriptor.permission = permission;
                    *tool = Arc::new(tool.with(descriptor, tool.body.clone()));
                }
            }
        }
        Ok(self)
    }

    /// Gives a tool another body; what it says of itself and how often it may run at once stay. Nothing happens without the tool.
    pub(crate) fn replace(&mut self, name: &str, body: ToolBody) {
        for tool in &mut self.tools {
            if tool.descriptor.name == name {
                *tool = Arc::new(tool.with(tool.descriptor.clone(), body.clone()));
            }
        }
    }

    /// What the tools say of themselves, in order.
    pub fn descriptors(&self) -> impl Iterator<Item = &ToolDescriptor> {
        self.tools.iter().map(|tool| &tool.descriptor)
    }

    /// Only the tools of these names.
    ///
    /// # Errors
    /// A name that none of them has.
    pub fn only(&self, names: &[String]) -> Result<Self, Error> {
        let tool = |name: &String| {
            self.get(name).cloned().ok_or_else(|| {
                Error::from(ToolboxError {
                    name: excerpt(name, 100),
                    why: "there is no tool of this name".to_owned(),
                })
            })
        };
        Ok(Self {
            schemas: Arc::clone(&self.schemas),
            shares_commits: self.shares_commits,
            tools: names.iter().map(tool).collect::<Result<_, _>>()?,
        })
    }

    /// Whether a call, as a model wrote it, is made: a known tool, strict JSON within [`ARGUMENTS_BOUNDS`], arguments that fit
    /// the schema, a permission. `arguments` may be blank for none.
    #[must_use]
    pub fn judge(&self, name: &str, arguments: &str) -> Verdict {
        let read = self
            .known(name)
            .and_then(|tool| arguments_of(arguments).map(|arguments| (tool, arguments)));
        match read {
            Ok((tool, arguments)) => match tool.judge(&arguments, self.shares_commits) {
                Verdict::Refused(error) => Verdict::Refused(error.bounded()),
                verdict => verdict,
            },
            Err(error) => Verdict::Refused(error.bounded()),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        self.tools.iter().find(|tool| tool.descriptor.name == name)
    }

    pub(super) fn known(&self, name: &str) -> Result<&Arc<Registered>, ToolError> {
        self.get(name).ok_or_else(|| {
            ToolError::new(
                "unknown-tool",
                format!("there is no tool `{}`", excerpt(name, 100)),
            )
        })
    }
}

impl Registered {
    /// The same tool, as often at once, with another descriptor and body.
    pub(super) fn with(&self, descriptor: ToolDescriptor, body: ToolBody) -> Self {
        Self {
            descriptor,
            body,
            output: self.output.clone(),
            slots: self.slots.clone(),
            input: Arc::clone(&self.input),
        }
    }

    /// What a call with these arguments comes to.
    pub(super) fn judge(&self, arguments: &Value, shares_commits: bool) -> Verdict {
        let faults = self.input.faults(arguments);
        if !faults.is_empty() {
            return Verdict::Refused(
                ToolError::new("invalid-arguments", faults.join("; ")).with("faults", faults),
            );
        }
        match self.descriptor.permission {
            ToolPermission::Allow => Verdict::Run(self.course(shares_commits)),
            ToolPermission::Ask => Verdict::Ask(self.course(shares_commits)),
            ToolPermission::Deny => Verdict::Refused(denied(&self.descriptor.name)),
        }
    }

    const fn course(&self, shares_commits: bool) -> Course {
        let reads = matches!(self.descriptor.effect, ToolEffect::Read);
        match self.body {
            ToolBody::Memory(_) if reads => Course::Read,
            ToolBody::Memory(_) if shares_commits => Course::Shared,
            ToolBody::Ledger(_) => Course::Repeatable,
            _ if self.descriptor.idempotent => Course::Repeatable,
            ToolBody::Memory(_) | ToolBody::Native(_) => Course::Once,
        }
    }
}

pub(super) fn denied(name: &str) -> ToolError {
    ToolError::new("tool-denied", format!("`{name}` may not be called"))
}

/// The arguments of a call, as a model wrote them.
pub(crate) fn arguments_of(text: &str) -> Result<Value, ToolError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let refused = |why: String| ToolError::new("invalid-arguments", why);
    let value = json::parse_strict(text, ARGUMENTS_BOUNDS)
        .map_err(|error| refused(format!("the arguments are not strict JSON: {error}")))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(refused("the arguments are not one JSON object".to_owned()))
    }
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// A tool that is not taken.
#[derive(Debug, thiserror::Error)]
#[error("the tool `{name}` cannot be used")]
struct ToolboxError {
    name: String,
    why: String,
}

impl Fault for ToolboxError {
    fn facts(&self) -> Facts {
        Facts::new(
            "tool-refused",
            Kind::InvalidInput,
            "docs/agents.md says what a tool's descriptor holds",
        )
    }

    fn why(&self) -> Option<String> {
        Some(self.why.clone())
    }
}
