//! One call: its turn, its time, its result.
//!
//! Owns time-out and concurrency. Called on a blocking thread, by the agent's Worker and by the host.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::SemaphorePermit;

use super::{
    error::{ToolError, ToolFault},
    tool::{Intent, ToolBody, ToolCall},
    toolbox::{Registered, Toolbox, Verdict, denied},
};
use crate::{
    core::{
        cancel::{Cancel, Halt},
        ports::memories::Memories,
        tools::descriptor::ToolPermission,
    },
    words::stopwatch::Stopwatch,
};

/// The most bytes of a result, as JSON.
pub const MAX_RESULT_BYTES: usize = 512 * 1024;

/// From where a call is made.
pub struct CallSite<'a> {
    /// Who calls.
    pub caller: &'a str,
    /// When.
    pub at: Timestamp,
    /// Waits, and ends waiting.
    pub cancel: &'a Cancel,
    /// The memory; none: the runtime has none.
    pub memories: Option<&'a dyn Memories>,
    /// The task's durable record; none: the call belongs to no task.
    pub intent: Option<Intent<'a>>,
    /// Who watches.
    pub progress: &'a (dyn Fn(&str) + Sync),
    /// A person has approved this very call.
    pub approved: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// What is told to the caller.
    pub result: Result<Value, ToolError>,
    /// What it did to the memory must not stay: it came too late.
    pub undo: bool,
}

impl From<Result<Value, ToolError>> for Called {
    fn from(result: Result<Value, ToolError>) -> Self {
        Self {
            result,
            undo: false,
        }
    }
}

impl Toolbox {
    /// Makes one call, whose arguments are judged again.
    ///
    /// # Errors
    /// A failure of what everything stands on, or the cancellation.
    pub fn call(&self, name: &str, arguments: &Value, site: &CallSite<'_>) -> Result<Called, Halt> {
        let mut called = self.called(name, arguments, site)?;
        called.result = called.result.map_err(ToolError::bounded);
        Ok(called)
    }

    fn called(&self, name: &str, arguments: &Value, site: &CallSite<'_>) -> Result<Called, Halt> {
        let tool = match self.known(name) {
            Ok(tool) => tool,
            Err(error) => return Ok(Err(error).into()),
        };
        match tool.judge(arguments, self.shares_commits) {
            Verdict::Refused(error) => return Ok(Err(error).into()),
            Verdict::Ask(_) if !site.approved => return Ok(Err(unapproved(tool)).into()),
            Verdict::Run(_) | Verdict::Ask(_) => (),
        }
        let began = Stopwatch::start();
        let timeout = tool.descriptor.timeout;
        let Some(_turn) = turn(tool, site, timeout)? else {
            return Ok(Err(busy(tool)).into());
        };
        let call = ToolCall {
            arguments,
            caller: site.caller,
            at: site.at,
            progress: site.progress,
        };
        let left = timeout.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Err(busy(tool)).into());
        }
        let result = match &tool.body {
            ToolBody::Native(body) => {
                let run = async { Ok(tokio::time::timeout(left, body.run(&call)).await) };
                match site.cancel.wait(run)? {
                    Ok(result) => result.map_err(ToolFault::from),
                    Err(_) => return Ok(Err(late(tool)).into()),
                }
            }
            ToolBody::Memory(body) => match site.memories {
                None => Err(no_memory_service().into()),
                Some(memories) => body.run(&call, memories),
            },
            ToolBody::Ledger(body) => match &site.intent {
                None => Err(outside_of_a_task(tool).into()),
                Some(intent) => body.run(&call, intent),
            },
        };
        if matches!(tool.body, ToolBody::Memory(_)) && began.elapsed() > timeout {
            return Ok(Called {
                result: Err(late(tool)),
                undo: true,
            });
        }
        match result {
            Ok(value) => Ok(checked(tool, value).into()),
            Err(ToolFault::Refused(error)) => Ok(Err(error).into()),
            Err(ToolFault::Failed(error)) => Err(Halt::Failed(error)),
        }
    }
}

/// Waits for the tool's turn; inside a transaction of the memory nobody waits, since whoever has the turn may wait for that.
fn turn<'t>(
    tool: &'t Registered,
    site: &CallSite<'_>,
    timeout: Duration,
) -> Result<Option<Option<SemaphorePermit<'t>>>, Halt> {
    let Some(slots) = &tool.slots else {
        return Ok(Some(None));
    };
    if let Ok(permit) = slots.try_acquire() {
        return Ok(Some(Some(permit)));
    }
    if matches!(tool.body, ToolBody::Memory(_)) && site.intent.is_some() {
        return Ok(None);
    }
    let permit = site
        .cancel
        .wait(async { Ok(tokio::time::timeout(timeout, slots.acquire()).await) })?;
    Ok(permit.ok().and_then(Result::ok).map(Some))
}

fn checked(tool: &Registered, value: Value) -> Result<Value, ToolError> {
    let name = &tool.descriptor.name;
    let bytes = value.to_string().len();
    if bytes > MAX_RESULT_BYTES {
        return Err(ToolError::new(
            "tool-output",
            format!(
                "`{name}` was called, and its result of {bytes} bytes is longer than {MAX_RESULT_BYTES}"
            ),
        ));
    }
    let faults = tool
        .output
        .as_ref()
        .map_or_else(Vec::new, |schema| schema.faults(&value));
    if faults.is_empty() {
        return Ok(value);
    }
    Err(ToolError::new(
        "tool-output",
        format!(
            "`{name}` was called, and its result does not fit its own schema: {}",
            faults.join("; ").replace("arguments", "result")
        ),
    ))
}

fn late(tool: &Registered) -> ToolError {
    let name = &tool.descriptor.name;
    let millis = tool.descriptor.timeout.as_millis();
    let effect = match tool.body {
        ToolBody::Memory(_) => "it has had no effect",
        _ => "whether it has had an effect is unknown",
    };
    let error = ToolError::new(
        "tool-timeout",
        format!("`{name}` took longer than {millis} ms; {effect}"),
    )
    .with("timeoutMs", u64::try_from(millis).unwrap_or(u64::MAX));
    match tool.body {
        ToolBody::Native(_) if !tool.descriptor.idempotent => error,
        _ => error.retryable(),
    }
}

fn busy(tool: &Registered) -> ToolError {
    let name = &tool.descriptor.name;
    let calls = tool
        .descriptor
        .concurrency
        .map_or(0, std::num::NonZeroU32::get);
    ToolError::new(
        "tool-busy",
        format!("`{name}` was not called: {calls} calls of it run already"),
    )
    .with("concurrency", calls)
    .retryable()
}

fn unapproved(tool: &Registered) -> ToolError {
    debug_assert_eq!(tool.descriptor.permission, ToolPermission::Ask);
    let mut error = denied(&tool.descriptor.name);
    error.message.push_str(" unless a person approves the call");
    error
}

fn outside_of_a_task(tool: &Registered) -> ToolError {
    ToolError::new(
        "tool-needs-task",
        format!(
            "`{}` is called by the agent of a task alone",
            tool.descriptor.name
        ),
    )
}

/// What a tool over the memory answers where there is none.
#[must_use]
pub fn no_memory_service() -> ToolError {
    ToolError::new(
        "no-memory-service",
        "this runtime has no memory service, so nothing can be kept or read",
    )
}
