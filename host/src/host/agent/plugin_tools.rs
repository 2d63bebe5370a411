//! The tools of a plugin in the hands of an agent: each call is one business transaction, with a ledger row of the agent's task.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{builder::Host, stores::Stores};
use crate::{
    business::BusinessStore,
    core::{
        contract::{Effect, Failure, OperationKey, Step, StepAnswer, Subject, Tool},
        metering::Meter,
        ports::{
            business::{Performed, SubjectConflict},
            domain::{Declared as _, Domain as _},
        },
        request::Request,
        step_call::StepSite,
        tools::{
            Intent, LedgerTool, ToolBody, ToolCall, ToolDescriptor, ToolEffect, ToolError,
            ToolFault, Toolbox,
        },
    },
    plugin::Plugin,
    words::{
        error::{Error, Facts, Fault, Kind},
        json::JsonText,
    },
};

/// A plugin bound to one request of its domain.
pub(super) struct PluginTools {
    plugin: Arc<Plugin>,
    request: Arc<Request>,
    component: Arc<[u8]>,
    subject: Subject,
}

impl PluginTools {
    /// Loads the plugin and has it check the request. Writes nothing.
    pub(super) fn load(host: &Host, request: Request, component: Arc<[u8]>) -> Result<Self, Error> {
        let plugin = host.plugin(Arc::clone(&component), &request.plugin)?;
        let subject = plugin.check_task(&request)?.map_err(|violations| {
            let why: Vec<_> = violations
                .into_iter()
                .map(|violation| format!("{}: {}", violation.code, violation.message))
                .collect();
            RequestRefused(why.join("; "))
        })?;
        Ok(Self {
            plugin,
            request: Arc::new(request),
            component,
            subject,
        })
    }

    /// Adds what the plugin declares, so that a model can be told of it; calls have no effect before [`Self::bind`].
    pub(super) fn register(&self, toolbox: &mut Toolbox) -> Result<(), Error> {
        for tool in &self.plugin.descriptor().tools {
            toolbox.register_tool(descriptor(tool), ToolBody::Ledger(Arc::new(Unbound)))?;
        }
        Ok(())
    }

    /// Puts the tools in the place of those that were registered: in a workspace whose database has the plugin's tables, charged
    /// to the task.
    pub(super) fn bind(
        &self,
        toolbox: &mut Toolbox,
        host: &Host,
        stores: &Stores,
        meter: &Arc<Meter>,
    ) -> Result<(), Error> {
        stores.keep_component(host.component(&self.component))?;
        stores.install(&self.plugin, &self.request, host.clock().now())?;
        let plugin = Arc::new(self.plugin.metered(Arc::clone(meter)));
        for tool in &self.plugin.descriptor().tools {
            let body = PluginTool {
                plugin: Arc::clone(&plugin),
                business: Arc::clone(&stores.business),
                request: Arc::clone(&self.request),
                subject: self.subject.clone(),
                tool: tool.clone(),
            };
            toolbox.replace(&tool.name, ToolBody::Ledger(Arc::new(body)));
        }
        Ok(())
    }
}

fn descriptor(tool: &Tool) -> ToolDescriptor {
    let schema = match &tool.arguments {
        Some(schema) => schema.value(),
        None => json!({ "type": "object", "additionalProperties": false }),
    };
    let effect = match tool.effect {
        Effect::Read => ToolEffect::Read,
        Effect::Write => ToolEffect::Write,
    };
    let described = match tool.description.trim() {
        "" => tool.name.clone(),
        text => text.to_owned(),
    };
    ToolDescriptor::new(tool.name.clone(), described, schema)
        .with_effect(effect)
        .idempotent()
        .with_cache_hint()
}

/// Stands in a toolbox that belongs to no task.
struct Unbound;

impl LedgerTool for Unbound {
    fn run(&self, _call: &ToolCall<'_>, _intent: &Intent<'_>) -> Result<Value, ToolFault> {
        Err(ToolError::new("tool-needs-task", "the plugin is bound to no task").into())
    }
}

struct PluginTool {
    plugin: Arc<Plugin>,
    business: Arc<BusinessStore>,
    request: Arc<Request>,
    subject: Subject,
    tool: Tool,
}

impl LedgerTool for PluginTool {
    fn run(&self, call: &ToolCall<'_>, intent: &Intent<'_>) -> Result<Value, ToolFault> {
        let step = self.step(call, intent)?;
        let key = self
            .plugin
            .operation_key(&self.request, &step.tool, step.arguments.as_ref())?;
        match key {
            Some(key) => self.perform(&step, key, intent),
            None => self.read(&step, intent),
        }
    }
}

impl PluginTool {
    /// A step as the plugin knows steps; its id is that of the record that intends the call.
    fn step(&self, call: &ToolCall<'_>, intent: &Intent<'_>) -> Result<Step, Error> {
        let id = format!("call-{}", intent.position.sequence);
        Ok(Step {
            id: id.parse().map_err(NoStepId)?,
            tool: self.tool.name.clone(),
            depends_on: Vec::new(),
            expected: self.tool.postcondition.clone(),
            arguments: self
                .tool
                .arguments
                .as_ref()
                .map(|_| JsonText::of(call.arguments)),
        })
    }

    fn site<'a>(&'a self, intent: &'a Intent<'a>) -> StepSite<'a> {
        StepSite {
            domain: &*self.plugin,
            business: &*self.business,
            request: &self.request,
            subject: &self.subject,
            task: intent.task,
            principal: intent.principal,
            intent: intent.position,
            intended_at: intent.at,
        }
    }

    fn perform(
        &self,
        step: &Step,
        key: OperationKey,
        intent: &Intent<'_>,
    ) -> Result<Value, ToolFault> {
        let performed = self
            .site(intent)
            .perform(step, key.clone(), self.tool.effect)?;
        match performed {
            Performed::Done { row, replayed } => Ok(json!({
                "operationKey": key,
                "replayed": replayed,
                "data": row.data.value(),
            })),
            Performed::Declined(data) => Ok(declined(&data)),
            Performed::Failed(failure) => Err(failed(failure).into()),
            Performed::SubjectConflict(conflict) => Err(conflicting(&conflict).into()),
        }
    }

    fn read(&self, step: &Step, intent: &Intent<'_>) -> Result<Value, ToolFault> {
        match self.site(intent).read(step)? {
            Err(conflict) => Err(conflicting(&conflict).into()),
            Ok(Ok(StepAnswer::Done { data, .. })) => Ok(json!({ "data": data.value() })),
            Ok(Ok(StepAnswer::Declined(data))) => Ok(declined(&data)),
            Ok(Err(failure)) => Err(failed(failure).into()),
        }
    }
}

fn declined(data: &JsonText) -> Value {
    json!({ "declined": true, "data": data.value() })
}

fn failed(failure: Failure) -> ToolError {
    match failure {
        Failure::EnvironmentChanged(message) => {
            ToolError::new("environment-changed", message).retryable()
        }
        Failure::Rejected(message) => ToolError::new("rejected", message),
    }
}

fn conflicting(conflict: &SubjectConflict) -> ToolError {
    let message = format!(
        "task `{}` has performed `{}` on this subject for another input or with other arguments",
        conflict.task,
        conflict.key.as_str()
    );
    ToolError::new("subject-conflict", message)
}

/// The plugin refuses the request that its tools were to be bound to.
#[derive(Debug, thiserror::Error)]
#[error("the plugin refuses the request that its tools are bound to")]
struct RequestRefused(String);

impl Fault for RequestRefused {
    fn facts(&self) -> Facts {
        Facts::new(
            "task-refused",
            Kind::InvalidInput,
            "correct the request; nothing was written",
        )
    }

    fn why(&self) -> Option<String> {
        Some(self.0.clone())
    }
}

/// A number that makes no identifier.
#[derive(Debug, thiserror::Error)]
#[error("the call has no id")]
struct NoStepId(#[source] crate::words::id::InvalidId);

impl Fault for NoStepId {
    fn facts(&self) -> Facts {
        Facts::new("call-without-id", Kind::Bug, "report it")
    }
}
