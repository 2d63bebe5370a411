//! What the schemas of tools have against arguments: those of a plugin's tools against a plan's, those of one tool against a
//! call's.
//!
//! Owns how much work one plan or call may cause, and how a fault is told. Asked by the plugin layer and, through its port, by the core.

use std::{collections::BTreeMap, sync::Arc};

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use super::{Schema, SchemaCompiler, SchemaFault, size};
use crate::{
    core::ports::{
        domain::ArgumentsCheck,
        schemas::{SchemaCheck, Schemas},
    },
    words::{
        error::{Error, Facts, Fault, Kind},
        json::JsonText,
        scrub::excerpt,
    },
};

/// Checks of all steps of a plan together, of about 5 ns each. A step takes what its schema costs, times the size of its
/// arguments.
const MAX_CHECKS: u64 = 20_000_000;

/// As [`MAX_CHECKS`], for listing what is wrong: each may be a fault of some 300 bytes, and takes up to half a microsecond.
const MAX_LISTED: u64 = 200_000;

/// Faults told of one step.
const MAX_FAULTS: usize = 20;

/// Faults read to find as many that differ.
const MAX_READ: usize = 1_000;

/// Bytes of a value shown in a fault.
const MAX_SHOWN: usize = 80;

/// The schemas of the tools that take arguments, by the tool's name.
#[derive(Debug, Default)]
pub(crate) struct ArgumentsSchemas(BTreeMap<String, Schema>);

impl ArgumentsSchemas {
    pub(crate) fn add(
        &mut self,
        tool: &str,
        schema: &JsonText,
        compiler: &mut SchemaCompiler,
    ) -> Result<(), SchemaFault> {
        self.0.insert(tool.to_owned(), compiler.compile(schema)?);
        Ok(())
    }

    /// For one plan.
    pub(crate) const fn check(&self) -> PlanCheck<'_> {
        PlanCheck {
            schemas: self,
            checks_left: MAX_CHECKS,
            listed_left: MAX_LISTED,
        }
    }
}

/// Compiles the schemas of tools; each has the bounds to itself.
#[derive(Debug, Default)]
pub struct ToolSchemas;

impl Schemas for ToolSchemas {
    fn compile(&self, tool: &str, schema: &JsonText) -> Result<Arc<dyn SchemaCheck>, Error> {
        let mut schemas = ArgumentsSchemas::default();
        schemas
            .add(tool, schema, &mut SchemaCompiler::default())
            .map_err(|fault| SchemaRefused {
                tool: tool.to_owned(),
                why: fault.to_string(),
            })?;
        Ok(Arc::new(ToolSchema {
            tool: tool.to_owned(),
            schemas,
        }))
    }
}

struct ToolSchema {
    tool: String,
    schemas: ArgumentsSchemas,
}

impl SchemaCheck for ToolSchema {
    fn faults(&self, value: &Value) -> Vec<String> {
        self.schemas.check().faults(&self.tool, value)
    }
}

/// A tool's schema is not used.
#[derive(Debug, thiserror::Error)]
#[error("a schema of the tool `{tool}` is refused")]
struct SchemaRefused {
    tool: String,
    why: String,
}

impl Fault for SchemaRefused {
    fn facts(&self) -> Facts {
        Facts::new(
            "tool-schema",
            Kind::InvalidInput,
            "use JSON Schema draft 2020-12 within the bounds of docs/agents.md",
        )
    }

    fn why(&self) -> Option<String> {
        Some(self.why.clone())
    }
}

/// The arguments of one plan, step by step.
pub(crate) struct PlanCheck<'a> {
    schemas: &'a ArgumentsSchemas,
    checks_left: u64,
    listed_left: u64,
}

impl ArgumentsCheck for PlanCheck<'_> {
    fn faults(&mut self, tool: &str, arguments: &Value) -> Vec<String> {
        let Some(Schema { validator, cost }) = self.schemas.0.get(tool) else {
            return Vec::new();
        };
        let size = size::of(arguments);
        let checks = cost.checks.saturating_mul(size);
        if !take(&mut self.checks_left, checks) {
            return vec![
                "the arguments of this plan are too large to be checked against their schemas"
                    .to_owned(),
            ];
        }
        if validator.is_valid(arguments) {
            return Vec::new();
        }
        let may_list = take(&mut self.listed_left, cost.nodes.saturating_mul(size))
            && take(&mut self.checks_left, checks.saturating_mul(cost.levels));
        if may_list {
            listed(validator.iter_errors(arguments))
        } else {
            vec![format!(
                "the arguments do not fit the schema of `{tool}`; this plan's are too large to list what is wrong"
            )]
        }
    }
}

fn take(left: &mut u64, asked: u64) -> bool {
    let rest = left.checked_sub(asked);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

fn listed<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut read = 0;
    for error in errors {
        for error in meant(&error) {
            if faults.len() == MAX_FAULTS || read == MAX_READ {
                faults.push("there is more, which is not listed".to_owned());
                return faults;
            }
            read += 1;
            let fault = told(error);
            // What several subschemas say is said once.
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    faults
}

/// Of alternatives that all fail, those are told that the value has the type of: the others are not what was meant.
fn meant<'a>(error: &'a ValidationError<'a>) -> Vec<&'a ValidationError<'a>> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return vec![error];
    };
    let is_of_another_type = |fault: &ValidationError<'_>| {
        matches!(fault.kind(), ValidationErrorKind::Type { .. })
            && fault.instance_path() == error.instance_path()
    };
    let meant: Vec<_> = context
        .iter()
        .filter(|faults| !faults.iter().any(is_of_another_type))
        .collect();
    match meant[..] {
        [faults] if !faults.is_empty() => faults.iter().collect(),
        _ => vec![error],
    }
}

fn told(error: &ValidationError<'_>) -> String {
    let reason = error.masked_with(shown(error.instance())).to_string();
    format!(
        "arguments{}: {}",
        excerpt(error.instance_path().as_str()),
        excerpt(&reason)
    )
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "the list".to_owned(),
        Value::Object(_) => "the object".to_owned(),
        Value::String(text) if text.len() > MAX_SHOWN => "the text".to_owned(),
        short => short.to_string(),
    }
}
