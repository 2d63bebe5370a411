//! A loaded plugin, as the core sees it.
//!
//! Owns which export answers which question, and that each is asked in a sandbox of its own. Never decides what an answer
//! means. Made by the host's wiring, called by the core.

use std::{fmt, sync::Arc};

use super::{
    VerifiedBytes,
    bindings::wharf::domain::types,
    cache::CompileCache,
    call::{Caller, Linked, Sandbox},
    contract,
    description::{self, Description},
    engine::PluginEngine,
    fault::CallFault,
    limits::PluginLimits,
    loading,
    slots::Slots,
};
use crate::{
    core::{
        contract::{
            Completed, Conclusion, Descriptor, Failure, OperationKey, Plan, Step, StepAnswer,
            Subject, Tool, Violation,
        },
        metering::Meter,
        ports::{
            business::Sql,
            domain::{ArgumentsCheck, Declared, Domain, PreparedStep},
        },
        request::Request,
    },
    schema::ArgumentsSchemas,
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        json::JsonText,
    },
};

/// One plugin at one digest, linked and described. Cheap to clone; used from any thread that may block.
#[derive(Clone)]
pub struct Plugin {
    caller: Caller,
    descriptor: Arc<Descriptor>,
    arguments: Arc<ArgumentsSchemas>,
}

impl Plugin {
    /// Compiles a component (or takes it from the engine or the cache), checks that it is a plugin, links it and asks it
    /// what it is. Blocks: seconds for a large component that was never compiled.
    ///
    /// # Errors
    /// Not a component; a contract version that this host does not speak; imports that no plugin gets; limits that the
    /// engine cannot keep; a plugin that fails while it describes itself, or describes itself outside the contract.
    pub fn load(
        engine: &PluginEngine,
        bytes: &VerifiedBytes,
        limits: PluginLimits,
        cache: Option<&CompileCache>,
    ) -> Result<Self, Error> {
        limits.check_within(engine.limits())?;
        let runtime = engine.runtime(&limits)?;
        let pre = loading::compile(&runtime, bytes, &limits, cache)?.link(&runtime)?;
        let mut linked = Linked {
            engine: engine.clone(),
            runtime,
            pre,
            limits,
            name: "(not yet described)".into(),
            digest: bytes.digest(),
            calls: Slots::new(limits.concurrent_calls, limits.queued_calls),
            number: engine.next_plugin(),
        };
        let unnamed = Arc::new(linked.clone());
        let caller = Caller {
            linked: Arc::clone(&unnamed),
            meter: None,
        };
        let found = caller.call("describe", |store, exports| {
            exports.wharf_domain_validator().call_describe(store)
        })?;
        let Description {
            descriptor,
            arguments,
        } = description::description(found, &limits)
            .map_err(|fault| unnamed.refused("describe", fault))?;
        linked.name = descriptor.name.as_str().into();
        Ok(Self {
            caller: Caller {
                linked: Arc::new(linked),
                meter: None,
            },
            descriptor: Arc::new(descriptor),
            arguments: Arc::new(arguments),
        })
    }

    /// The same plugin, with calls that are counted, and paid for, by this meter.
    #[must_use]
    pub fn metered(&self, meter: Arc<Meter>) -> Self {
        let mut metered = self.clone();
        metered.caller.meter = Some(meter);
        metered
    }

    /// The SHA-256 of the component's bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.caller.linked.digest
    }

    /// What it may use.
    #[must_use]
    pub fn limits(&self) -> &PluginLimits {
        &self.caller.linked.limits
    }

    fn tool(&self, name: &str) -> Result<&Tool, Error> {
        self.descriptor.tool(name).ok_or_else(|| {
            Error::from(UnknownTool {
                plugin: self.descriptor.name.clone(),
                tool: name.to_owned(),
            })
        })
    }

    fn checked<T>(&self, function: &'static str, answer: Result<T, CallFault>) -> Result<T, Error> {
        answer.map_err(|fault| self.caller.linked.refused(function, fault))
    }
}

impl Declared for Plugin {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn arguments_check(&self) -> Box<dyn ArgumentsCheck + '_> {
        Box::new(self.arguments.check())
    }
}

impl Domain for Plugin {
    fn check_task(&self, request: &Request) -> Result<Result<Subject, Vec<Violation>>, Error> {
        let task = contract::task(request);
        let found = self.caller.call("check-task", |store, exports| {
            exports
                .wharf_domain_validator()
                .call_check_task(store, &task)
        })?;
        self.checked("check-task", contract::subject(found, self.limits()))
    }

    fn operation_key(
        &self,
        request: &Request,
        tool: &str,
        arguments: Option<&JsonText>,
    ) -> Result<Option<OperationKey>, Error> {
        let tool = self.tool(tool)?;
        let task = contract::task(request);
        let arguments = arguments.map(contract::json_text);
        let found = self.caller.call("operation-key", |store, exports| {
            exports.wharf_domain_validator().call_operation_key(
                store,
                &task,
                &tool.name,
                arguments.as_ref(),
            )
        })?;
        self.checked("operation-key", contract::operation_key(found, tool))
    }

    fn check_plan(
        &self,
        request: &Request,
        snapshot: &JsonText,
        plan: &Plan,
    ) -> Result<Vec<Violation>, Error> {
        let (task, snapshot) = (contract::task(request), contract::json_text(snapshot));
        let plan = contract::plan(plan);
        let found = self.caller.call("check-plan", |store, exports| {
            exports
                .wharf_domain_validator()
                .call_check_plan(store, &task, &snapshot, &plan)
        })?;
        match found {
            Ok(()) => Ok(Vec::new()),
            Err(found) => self.checked("check-plan", contract::refusal(found, self.limits())),
        }
    }

    /// One sandbox for all candidates. Each has the budgets of one call; all together have the time and the fuel of ten calls, the
    /// time in which `candidates` makes the next one included.
    fn first_accepted(
        &self,
        request: &Request,
        snapshot: &JsonText,
        candidates: &mut dyn Iterator<Item = Plan>,
    ) -> Result<Option<Plan>, Error> {
        let (task, snapshot) = (contract::task(request), contract::json_text(snapshot));
        let mut sandbox = self.caller.batch("check-plan")?;
        for candidate in candidates {
            let plan = contract::plan(&candidate);
            let found;
            (found, sandbox) = sandbox.next().run(|store, exports| {
                exports
                    .wharf_domain_validator()
                    .call_check_plan(store, &task, &snapshot, &plan)
            })?;
            match found {
                Ok(()) => return Ok(Some(candidate)),
                Err(found) => {
                    self.checked("check-plan", contract::refusal(found, self.limits()))?;
                }
            }
        }
        Ok(None)
    }

    fn conclude(
        &self,
        request: &Request,
        snapshot: &JsonText,
        completed: &[Completed],
    ) -> Result<Result<Conclusion, Vec<Violation>>, Error> {
        let (task, snapshot) = (contract::task(request), contract::json_text(snapshot));
        let completed: Vec<_> = completed.iter().map(contract::completed).collect();
        let found = self.caller.call("conclude", |store, exports| {
            exports
                .wharf_domain_validator()
                .call_conclude(store, &task, &snapshot, &completed)
        })?;
        self.checked("conclude", contract::conclusion(found, self.limits()))
    }

    fn snapshot(
        &self,
        request: &Request,
        sql: Arc<dyn Sql>,
    ) -> Result<Result<JsonText, Failure>, Error> {
        let task = contract::task(request);
        let found =
            self.caller
                .sandbox("snapshot")?
                .run_with(sql, |store, exports, transaction| {
                    exports
                        .wharf_domain_tools()
                        .call_snapshot(store, &task, transaction)
                })?;
        self.checked("snapshot", contract::snapshot(found, self.limits()))
    }

    fn prepare(&self, request: &Request, step: &Step) -> Result<Box<dyn PreparedStep>, Error> {
        let tool = self.tool(&step.tool)?.clone();
        Ok(Box::new(Prepared {
            sandbox: self.caller.sandbox("perform")?,
            linked: Arc::clone(&self.caller.linked),
            task: contract::task(request),
            step: contract::step(step),
            tool,
        }))
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.descriptor.name)
            .field("version", &self.descriptor.version)
            .field("digest", &self.digest())
            .finish_non_exhaustive()
    }
}

/// An instance that waits for its transaction; its time runs from [`PreparedStep::perform`] on.
struct Prepared {
    linked: Arc<Linked>,
    sandbox: Sandbox,
    task: types::Task,
    step: types::Step,
    tool: Tool,
}

impl PreparedStep for Prepared {
    fn perform(self: Box<Self>, sql: Arc<dyn Sql>) -> Result<Result<StepAnswer, Failure>, Error> {
        let Self {
            linked,
            sandbox,
            task,
            step,
            tool,
        } = *self;
        tracing::debug!(
            plugin = &*linked.name,
            task = task.id,
            step = step.id,
            tool = step.tool,
            "performing"
        );
        let found = sandbox.run_with(sql, |store, exports, transaction| {
            exports
                .wharf_domain_tools()
                .call_perform(store, &task, &step, transaction)
        })?;
        contract::step_answer(found, &tool, &linked.limits)
            .map_err(|fault| linked.refused("perform", fault))
    }
}

/// A tool that the plugin does not have; a plan that names it must not get this far.
#[derive(Debug, thiserror::Error)]
#[error("the plugin {plugin} has no tool `{tool}`")]
struct UnknownTool {
    plugin: String,
    tool: String,
}

impl Fault for UnknownTool {
    fn facts(&self) -> Facts {
        Facts::new(
            "plugin-unknown-tool",
            Kind::InvalidInput,
            "name a tool of the plugin's descriptor",
        )
    }
}
