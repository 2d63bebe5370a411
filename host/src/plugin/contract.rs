//! Between the generated bindings of contract 0.1.0 and the core's own model.
//!
//! Owns every check of what a plugin answers: sizes, JSON, names, and what the contract's text asks for beyond its types;
//! those of its own description stand in `description.rs`. Never calls a plugin. Called by `domain.rs`.

use std::{collections::HashSet, num::NonZeroUsize};

use super::{
    bindings::{exports::wharf::domain::tools, wharf::domain::types},
    fault::CallFault,
    limits::PluginLimits,
};
use crate::{
    core::{
        contract::{
            Artifact, Completed, Conclusion, Effect, Failure, OperationKey, Plan, PlanStatus, Step,
            StepAnswer, Subject, Tool, Violation,
        },
        request::Request,
    },
    words::{
        id::StepId,
        json::{JsonError, JsonText},
        scrub::excerpt,
        scrub::scrub,
    },
};

pub(super) type Checked<T> = Result<T, CallFault>;

pub(super) fn task(request: &Request) -> types::Task {
    types::Task {
        id: request.id.to_string(),
        tenant: request.tenant.to_string(),
        principal: request.principal.to_string(),
        goal: request.goal.clone(),
        input: request.input.as_str().to_owned(),
    }
}

pub(super) fn step(step: &Step) -> types::Step {
    types::Step {
        id: step.id.to_string(),
        tool: step.tool.clone(),
        depends_on: step.depends_on.iter().map(StepId::to_string).collect(),
        expected: step.expected.clone(),
        arguments: step.arguments.as_ref().map(json_text),
    }
}

pub(super) fn plan(plan: &Plan) -> types::Plan {
    types::Plan {
        goal: plan.goal.clone(),
        status: match plan.status {
            PlanStatus::Ready => types::PlanStatus::Ready,
            PlanStatus::NeedsHuman => types::PlanStatus::NeedsHuman,
        },
        reason: plan.reason.clone(),
        steps: plan.steps.iter().map(step).collect(),
    }
}

pub(super) fn completed(completed: &Completed) -> types::Completed {
    types::Completed {
        step: step(&completed.step),
        operation_key: completed.operation_key.clone(),
        declined: completed.declined,
        data: json_text(&completed.data),
    }
}

pub(super) fn json_text(json: &JsonText) -> String {
    json.as_str().to_owned()
}

pub(super) fn subject(
    found: Result<String, Vec<types::Violation>>,
    limits: &PluginLimits,
) -> Checked<Result<Subject, Vec<Violation>>> {
    match found {
        Ok(text) => Subject::new(text)
            .map(Ok)
            .ok_or_else(|| CallFault::violation("the subject is not 1 to 200 bytes without NUL")),
        Err(found) => Ok(Err(refusal(found, limits)?)),
    }
}

/// A write needs a key; what a tool may do stands in the descriptor.
pub(super) fn operation_key(found: Option<String>, tool: &Tool) -> Checked<Option<OperationKey>> {
    match (found, tool.effect) {
        (Some(text), _) => OperationKey::new(text).map(Some).ok_or_else(|| {
            CallFault::violation("the operation key is not 1 to 200 bytes without NUL")
        }),
        (None, Effect::Read) => Ok(None),
        (None, Effect::Write) => Err(violation(
            "a tool that writes has no operation key",
            &tool.name,
        )),
    }
}

/// At least one violation, since the plugin refused.
pub(super) fn refusal(
    found: Vec<types::Violation>,
    limits: &PluginLimits,
) -> Checked<Vec<Violation>> {
    if found.is_empty() {
        return Err(CallFault::violation(
            "it refused without naming a violation",
        ));
    }
    let bytes = found
        .iter()
        .map(|each| {
            each.code.len() + each.message.len() + each.step.as_ref().map_or(0, String::len)
        })
        .sum();
    within("list of violations", bytes, limits.message_bytes)?;
    Ok(found
        .into_iter()
        .map(
            |types::Violation {
                 code,
                 message,
                 step,
             }| Violation {
                code: scrub(code),
                message: scrub(message),
                step_id: step.map(scrub),
            },
        )
        .collect())
}

pub(super) fn snapshot(
    found: Result<String, tools::Failure>,
    limits: &PluginLimits,
) -> Checked<Result<JsonText, Failure>> {
    match found {
        Ok(text) => json("the snapshot", text, limits.snapshot_bytes, limits).map(Ok),
        Err(tools::Failure::Rejected(text)) => Ok(Err(Failure::Rejected(message(text, limits)?))),
        Err(tools::Failure::EnvironmentChanged(text)) => Err(violation(
            "a snapshot failed with `environment-changed`, allowed is `rejected`",
            &text,
        )),
        Err(tools::Failure::OutcomeUnknown(text)) => Err(unknown(&text)),
    }
}

pub(super) fn step_answer(
    found: Result<tools::Answer, tools::Failure>,
    tool: &Tool,
    limits: &PluginLimits,
) -> Checked<Result<StepAnswer, Failure>> {
    Ok(match found {
        Ok(tools::Answer::Done(tools::Outcome { state, data })) => {
            if state != tool.postcondition {
                return Err(violation(
                    &format!(
                        "`{}` did not end in its postcondition `{}`",
                        tool.name, tool.postcondition
                    ),
                    &state,
                ));
            }
            let data = json("the record", data, limits.record_bytes, limits)?;
            Ok(StepAnswer::Done { state, data })
        }
        Ok(tools::Answer::Declined(text)) => Ok(StepAnswer::Declined(json(
            "the declined record",
            text,
            limits.record_bytes,
            limits,
        )?)),
        Err(tools::Failure::EnvironmentChanged(text)) => {
            Err(Failure::EnvironmentChanged(message(text, limits)?))
        }
        Err(tools::Failure::Rejected(text)) => Err(Failure::Rejected(message(text, limits)?)),
        Err(tools::Failure::OutcomeUnknown(text)) => return Err(unknown(&text)),
    })
}

pub(super) fn conclusion(
    found: Result<types::Conclusion, Vec<types::Violation>>,
    limits: &PluginLimits,
) -> Checked<Result<Conclusion, Vec<Violation>>> {
    let found = match found {
        Ok(found) => found,
        Err(found) => return Ok(Err(refusal(found, limits)?)),
    };
    let bytes = found.result.len() + found.summary.len();
    within("conclusion", bytes, limits.conclusion_bytes)?;
    if found.summary.trim().is_empty() || found.summary.chars().any(char::is_control) {
        return Err(violation(
            "the summary is not one line of text",
            &found.summary,
        ));
    }
    if found.artifacts.len() > limits.artifacts.get() {
        return Err(CallFault::OutputLimit {
            what: "list of artifacts",
            found: found.artifacts.len(),
            allowed: limits.artifacts.get(),
        });
    }
    let mut names = HashSet::new();
    let mut artifacts = Vec::with_capacity(found.artifacts.len());
    for artifact in found.artifacts {
        // Names that differ in case alone are one file on some machines.
        if !names.insert(artifact.name.to_ascii_lowercase()) {
            return Err(violation(
                "two artifacts have the same name",
                &artifact.name,
            ));
        }
        artifacts.push(self::artifact(artifact, limits)?);
    }
    Ok(Ok(Conclusion {
        result: json("the result", found.result, limits.conclusion_bytes, limits)?,
        summary: scrub(found.summary),
        artifacts,
    }))
}

fn artifact(found: types::Artifact, limits: &PluginLimits) -> Checked<Artifact> {
    let types::Artifact {
        name,
        media_type,
        content,
    } = found;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let lower = name.to_ascii_lowercase();
    if !(1..=80).contains(&name.len())
        || !name.bytes().all(plain)
        || name.starts_with('.')
        || lower.starts_with("report.")
    {
        return Err(violation(
            "an artifact's name is not 1 to 80 letters, digits, `.`, `_` or `-`, or begins with `.` or `report.`",
            &name,
        ));
    }
    if !(1..=100).contains(&media_type.len())
        || !media_type.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    {
        return Err(violation(
            "an artifact's media type is not 1 to 100 plain characters",
            &name,
        ));
    }
    within("artifact", content.len(), limits.artifact_bytes)?;
    Ok(Artifact {
        name,
        media_type,
        content,
    })
}

fn unknown(text: &str) -> CallFault {
    violation(
        "it failed with `outcome-unknown`, which this version of the contract reserves",
        text,
    )
}

fn message(text: String, limits: &PluginLimits) -> Checked<String> {
    within("message", text.len(), limits.message_bytes)?;
    Ok(scrub(text))
}

pub(super) fn json(
    what: &str,
    text: String,
    bytes: NonZeroUsize,
    limits: &PluginLimits,
) -> Checked<JsonText> {
    JsonText::parse(text, limits.json(bytes)).map_err(|error| match error {
        JsonError::TooLarge { found, allowed } => CallFault::OutputLimit {
            what: "JSON text",
            found,
            allowed,
        },
        error => violation(&format!("{what} is not strict JSON"), &error.to_string()),
    })
}

pub(super) fn within(what: &'static str, found: usize, allowed: NonZeroUsize) -> Checked<()> {
    if found > allowed.get() {
        return Err(CallFault::OutputLimit {
            what,
            found,
            allowed: allowed.get(),
        });
    }
    Ok(())
}

pub(super) fn violation(text: &str, found: &str) -> CallFault {
    CallFault::violation(format!("{text}: {}", excerpt(found)))
}
