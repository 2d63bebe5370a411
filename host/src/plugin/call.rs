//! One call: a fresh sandbox, its limits, its end.
//!
//! Owns the life of a store: made from what was linked, used for one call, dropped, whatever happened. Never converts
//! what is said (`contract.rs`). Called by `domain.rs`.

use std::sync::Arc;

use wasmtime::{
    PoolConcurrencyLimitError, Store, Trap, WasmBacktrace,
    component::{Resource, ResourceTableError},
};
use wasmtime_wasi::I32Exit;

use super::{
    bindings::{Domain as Exports, DomainPre},
    engine::{PluginEngine, TICK_MILLIS},
    fault::{CallError, CallFault},
    limits::PluginLimits,
    log::{GuestLog, excerpt},
    slots::{Overloaded, Slot},
    state::{CallState, Stop, Transaction},
};
use crate::{
    core::ports::business::Sql,
    words::{digest::Digest, error::Error},
};

/// How many calls' time a batch of calls in one sandbox has together.
pub(super) const BATCH_CALLS: u64 = 10;

/// A linked plugin.
#[derive(Clone)]
pub(super) struct Linked {
    pub(super) engine: PluginEngine,
    pub(super) pre: DomainPre<CallState>,
    pub(super) limits: PluginLimits,
    /// The name to say in errors; before the plugin has said its own, a stand-in.
    pub(super) name: Arc<str>,
    pub(super) digest: Digest,
}

impl Linked {
    /// One call in a sandbox of its own.
    pub(super) fn call<T>(
        self: &Arc<Self>,
        function: &'static str,
        run: impl FnOnce(&mut Store<CallState>, &Exports) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let (answer, _) = self.sandbox(function)?.run(run)?;
        Ok(answer)
    }

    /// A fresh sandbox, in its turn; the time for one call runs from then.
    pub(super) fn sandbox(self: &Arc<Self>, function: &'static str) -> Result<Sandbox, Error> {
        let slot = self.engine.slots().take();
        let slot = slot.map_err(|Overloaded| self.refused(function, CallFault::Overloaded))?;
        let log = GuestLog::new(Arc::clone(&self.name), function, &self.limits);
        let mut store = store(&self.engine, self.limits, log);
        match self.pre.instantiate(&mut store) {
            Ok(exports) => Ok(Sandbox {
                linked: Arc::clone(self),
                function,
                store,
                exports,
                ends: None,
                _slot: slot,
            }),
            Err(error) => Err(self.failed(store, function, error)),
        }
    }

    /// An answer that the contract does not allow.
    pub(super) fn refused(&self, function: &'static str, fault: CallFault) -> Error {
        Error::from(CallError {
            plugin: self.name.to_string(),
            digest: self.digest,
            function,
            fault,
        })
    }

    /// Why a call ended; takes the store, which nobody may enter again.
    fn failed(
        &self,
        mut store: Store<CallState>,
        function: &'static str,
        error: wasmtime::Error,
    ) -> Error {
        let state = store.data_mut();
        state.log.finish();
        match state.stop.take() {
            Some(Stop::Fatal(fatal)) => fatal,
            Some(stop) => self.refused(function, self.limit(&stop)),
            None => {
                let millis = state.window_millis;
                let panic = state.log.panic_text();
                self.refused(function, self.fault(&error, millis, panic))
            }
        }
    }

    const fn limit(&self, stop: &Stop) -> CallFault {
        match *stop {
            Stop::Memory { asked } => CallFault::MemoryLimit {
                asked,
                limit: self.limits.memory_bytes.get(),
            },
            Stop::Table { asked } => CallFault::TableLimit {
                asked,
                limit: self.limits.table_elements.get(),
            },
            Stop::HostCalls => CallFault::HostCallLimit {
                limit: self.limits.host_calls.get(),
            },
            Stop::Log | Stop::Fatal(_) => CallFault::LogLimit {
                lines: self.limits.log_lines.get(),
                bytes: self.limits.log_bytes.get(),
            },
        }
    }

    fn fault(&self, error: &wasmtime::Error, millis: u64, panic: String) -> CallFault {
        if error.is::<PoolConcurrencyLimitError>() {
            return CallFault::Overloaded;
        }
        if let Some(I32Exit(status)) = error.downcast_ref() {
            return CallFault::Exited { status: *status };
        }
        if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) {
            return self.handles();
        }
        let frames = frames(error);
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => CallFault::Deadline { millis },
            Some(Trap::StackOverflow) => CallFault::StackOverflow {
                limit: self.engine.limits().guest_stack_bytes.get(),
            },
            Some(Trap::UnreachableCodeReached) if !panic.is_empty() => CallFault::Panicked {
                text: panic,
                frames,
            },
            Some(trap) => CallFault::Trapped {
                reason: excerpt(&trap.to_string()),
                frames,
            },
            None => self.untyped(&error.root_cause().to_string(), frames),
        }
    }

    const fn handles(&self) -> CallFault {
        CallFault::HandleLimit {
            limit: self.limits.handles.get(),
        }
    }

    /// wasmtime has no type for these; a test for each shows that its words are still the same.
    fn untyped(&self, text: &str, frames: Vec<String>) -> CallFault {
        if text.contains("fuel allocated for hostcalls has been exhausted") {
            CallFault::HostBufferLimit {
                limit: self.limits.host_copy_bytes.get(),
            }
        } else if text.contains("store handle limit exceeded") {
            self.handles()
        } else if text.contains("invalid utf-8") || text.contains("incomplete utf-8") {
            CallFault::violation("a text of its is not UTF-8")
        } else if text.contains("instance count too high") {
            CallFault::InstanceLimit {
                limit: self.limits.instances.get(),
            }
        } else {
            CallFault::Trapped {
                reason: excerpt(text),
                frames,
            }
        }
    }
}

/// A store with every limit set.
pub(super) fn store(
    engine: &PluginEngine,
    limits: PluginLimits,
    log: GuestLog,
) -> Store<CallState> {
    let mut store = Store::new(engine.wasmtime(), CallState::new(limits, log));
    store.limiter(|state| state);
    store.set_hostcall_fuel(limits.host_copy_bytes.get());
    store.set_max_component_handles(limits.handles.get());
    store.set_epoch_deadline(ticks(limits.call_millis.get()));
    store
}

/// The names of the plugin's functions on the stack, innermost first, without those that every panic goes through.
fn frames(error: &wasmtime::Error) -> Vec<String> {
    const MOST: usize = 8;
    let of_panics = |name: &String| {
        ["std::", "core::", "alloc::", "__rust", "abort"]
            .iter()
            .any(|part| name.starts_with(part))
    };
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else {
        return Vec::new();
    };
    backtrace
        .frames()
        .iter()
        .filter_map(|frame| frame.func_name())
        .map(|name| excerpt(&format!("{:#}", rustc_demangle::demangle(name))))
        .skip_while(of_panics)
        .take(MOST)
        .collect()
}

/// A tick that has begun does not count.
const fn ticks(millis: u64) -> u64 {
    millis.div_ceil(TICK_MILLIS).saturating_add(1)
}

/// One instance of a plugin. Every use takes it; only a use that ended well gives it back.
pub(super) struct Sandbox {
    linked: Arc<Linked>,
    function: &'static str,
    store: Store<CallState>,
    exports: Exports,
    /// In a batch: the tick at which it is over.
    ends: Option<u64>,
    /// Given on after the store is gone.
    _slot: Slot,
}

impl Sandbox {
    /// Calls the plugin in the time that is left.
    pub(super) fn run<T>(
        mut self,
        run: impl FnOnce(&mut Store<CallState>, &Exports) -> wasmtime::Result<T>,
    ) -> Result<(T, Self), Error> {
        match run(&mut self.store, &self.exports) {
            Ok(answer) => {
                self.store.data_mut().log.finish();
                Ok((answer, self))
            }
            Err(error) => Err(self.linked.failed(self.store, self.function, error)),
        }
    }

    /// Calls the plugin with a transaction, in the time of one call from now on.
    pub(super) fn run_with<T>(
        mut self,
        sql: Arc<dyn Sql>,
        run: impl FnOnce(&mut Store<CallState>, &Exports, Resource<Transaction>) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.store
            .set_epoch_deadline(ticks(self.linked.limits.call_millis.get()));
        self.store.data_mut().sql = Some(sql);
        let (answer, _) = self.run(|store, exports| {
            let transaction = store.data_mut().table.push(Transaction)?;
            run(store, exports, Resource::new_borrow(transaction.rep()))
        })?;
        Ok(answer)
    }

    /// Starts a batch: from now on [`BATCH_CALLS`] times the time of one call for all of it together.
    pub(super) fn batch(mut self) -> Self {
        let all = ticks(self.batch_millis());
        self.ends = Some(self.linked.engine.ticks().saturating_add(all));
        self
    }

    /// The next call of a batch: time and host calls of one call, in what is left of the batch's time. The log's budget
    /// is that of the sandbox and is not renewed.
    pub(super) fn next(mut self) -> Self {
        let now = self.linked.engine.ticks();
        let left = self.ends.map_or(u64::MAX, |ends| ends.saturating_sub(now));
        let one = ticks(self.linked.limits.call_millis.get());
        self.store.set_epoch_deadline(one.min(left));
        let all = self.batch_millis();
        let state = self.store.data_mut();
        state.renew();
        if left < one {
            state.window_millis = all;
        }
        self
    }

    fn batch_millis(&self) -> u64 {
        let one = self.linked.limits.call_millis.get();
        one.saturating_mul(BATCH_CALLS)
    }
}
