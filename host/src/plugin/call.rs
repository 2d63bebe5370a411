//! One call: a fresh sandbox, its limits, its end.
//!
//! Owns the life of a store: made from what was linked, used for one call, dropped, whatever happened; and that what it used is
//! charged then. Never converts what is said (`contract.rs`). Called by `domain.rs`.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use wasmtime::{
    PoolConcurrencyLimitError, Store, Trap, WasmBacktrace,
    component::{Resource, ResourceTableError},
};
use wasmtime_wasi::I32Exit;

use super::{
    bindings::{Domain as Exports, DomainPre},
    engine::PluginEngine,
    fault::{CallError, CallFault},
    limits::PluginLimits,
    log::GuestLog,
    runtime::{Runtime, TICK_MILLIS},
    slots::{Overloaded, Slot, Slots},
    state::{CallState, Stop, Transaction},
};
use crate::{
    core::{
        metering::{CallUse, Grant, Meter},
        ports::business::Sql,
    },
    words::{digest::Digest, error::Error, scrub::excerpt, stopwatch::Stopwatch},
};

/// How many calls' time and fuel a batch of calls in one sandbox has together.
pub(super) const BATCH_CALLS: u64 = 10;

/// A linked plugin.
#[derive(Clone)]
pub(super) struct Linked {
    pub(super) engine: PluginEngine,
    pub(super) runtime: Runtime,
    pub(super) pre: DomainPre<CallState>,
    pub(super) limits: PluginLimits,
    /// The name to say in errors; before the plugin has said its own, a stand-in.
    pub(super) name: Arc<str>,
    pub(super) digest: Digest,
    /// Its calls at the same time.
    pub(super) calls: Arc<Slots>,
    /// Its number in the engine.
    pub(super) number: u64,
}

/// A linked plugin, and who pays for its calls.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) linked: Arc<Linked>,
    pub(super) meter: Option<Arc<Meter>>,
}

impl Caller {
    /// One call in a sandbox of its own.
    pub(super) fn call<T>(
        &self,
        function: &'static str,
        run: impl FnOnce(&mut Store<CallState>, &Exports) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let (answer, _) = self.sandbox(function)?.run(run)?;
        Ok(answer)
    }

    /// A fresh sandbox, in its turn; the time for one call runs from then.
    pub(super) fn sandbox(&self, function: &'static str) -> Result<Sandbox, Error> {
        self.sandbox_of(function, 1)
    }

    /// A sandbox for many calls, which have [`BATCH_CALLS`] times the time and fuel of one for all of them together.
    pub(super) fn batch(&self, function: &'static str) -> Result<Sandbox, Error> {
        let mut sandbox = self.sandbox_of(function, BATCH_CALLS)?;
        let metered = &mut sandbox.metered;
        let all = ticks(metered.batch_millis());
        metered.ends = Some(metered.linked.runtime.ticks().saturating_add(all));
        Ok(sandbox)
    }

    fn sandbox_of(&self, function: &'static str, calls: u64) -> Result<Sandbox, Error> {
        let linked = &self.linked;
        let patience = Duration::from_millis(linked.limits.queue_millis.get());
        let of_plugin = linked.calls.take(0, patience).map_err(|Overloaded| {
            let limit = linked.limits.concurrent_calls.get();
            linked.refused(function, CallFault::TooManyCalls { limit })
        })?;
        let of_engine = linked
            .engine
            .sandbox(linked.number)
            .map_err(|Overloaded| linked.refused(function, CallFault::Overloaded))?;
        let most = linked
            .limits
            .fuel
            .map(|fuel| fuel.get().saturating_mul(calls));
        let grant = match (&self.meter, most) {
            (Some(meter), Some(most)) => Some(meter.grant(most)?),
            _ => None,
        };
        let fuel = grant.as_ref().map_or(most, |grant| Some(grant.fuel));
        let log = GuestLog::new(Arc::clone(&linked.name), function, &linked.limits);
        let mut metered = MeteredStore {
            store: store(&linked.runtime, linked.limits, log),
            linked: Arc::clone(linked),
            function,
            meter: self.meter.clone(),
            grant,
            fuel_left: fuel,
            called: false,
            busy: Duration::ZERO,
            fault: None,
            ends: None,
            _slots: [of_plugin, of_engine],
        };
        metered.refuel();
        let watch = Stopwatch::start();
        let made = linked.pre.instantiate(&mut metered.store);
        metered.busy += watch.elapsed();
        match made {
            Ok(exports) => Ok(Sandbox { exports, metered }),
            Err(error) => Err(metered.failed(error)),
        }
    }
}

impl Linked {
    /// An answer that the contract does not allow.
    pub(super) fn refused(&self, function: &'static str, fault: CallFault) -> Error {
        Error::from(CallError {
            plugin: self.name.to_string(),
            digest: self.digest,
            function,
            fault,
        })
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
                limit: self.limits.guest_stack_bytes.get(),
            },
            Some(Trap::UnreachableCodeReached) if !panic.is_empty() => CallFault::Panicked {
                text: panic,
                frames,
            },
            Some(Trap::OutOfFuel) => CallFault::OutOfFuel {
                limit: self.limits.fuel.map_or(0, NonZeroU64::get),
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
pub(super) fn store(runtime: &Runtime, limits: PluginLimits, log: GuestLog) -> Store<CallState> {
    let mut store = Store::new(runtime.wasmtime(), CallState::new(limits, log));
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
    exports: Exports,
    metered: MeteredStore,
}

/// A store, and what its calls used. Charged when it is dropped.
struct MeteredStore {
    store: Store<CallState>,
    linked: Arc<Linked>,
    function: &'static str,
    meter: Option<Arc<Meter>>,
    grant: Option<Grant>,
    /// Fuel that is left beside what the store has; none: not metered.
    fuel_left: Option<u64>,
    /// Whether an export was called, and not only an instance made ready.
    called: bool,
    busy: Duration,
    /// The code of what ended it.
    fault: Option<&'static str>,
    /// In a batch: the tick at which it is over.
    ends: Option<u64>,
    /// Given on after the store is gone.
    _slots: [Slot; 2],
}

impl Sandbox {
    /// Calls the plugin in the time that is left.
    pub(super) fn run<T>(
        mut self,
        run: impl FnOnce(&mut Store<CallState>, &Exports) -> wasmtime::Result<T>,
    ) -> Result<(T, Self), Error> {
        let Self { exports, metered } = &mut self;
        metered.called = true;
        let watch = Stopwatch::start();
        let answer = run(&mut metered.store, exports);
        metered.busy += watch.elapsed();
        match answer {
            Ok(answer) => {
                metered.store.data_mut().log.finish();
                Ok((answer, self))
            }
            Err(error) => Err(self.metered.failed(error)),
        }
    }

    /// Calls the plugin with a transaction, in the time of one call from now on.
    pub(super) fn run_with<T>(
        mut self,
        sql: Arc<dyn Sql>,
        run: impl FnOnce(&mut Store<CallState>, &Exports, Resource<Transaction>) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let metered = &mut self.metered;
        metered
            .store
            .set_epoch_deadline(ticks(metered.linked.limits.call_millis.get()));
        metered.store.data_mut().sql = Some(sql);
        let (answer, _) = self.run(|store, exports| {
            let transaction = store.data_mut().table.push(Transaction)?;
            run(store, exports, Resource::new_borrow(transaction.rep()))
        })?;
        Ok(answer)
    }

    /// The next call of a batch: time, fuel and host calls of one call, in what is left of the batch's. The log's budget
    /// is that of the sandbox and is not renewed.
    pub(super) fn next(mut self) -> Self {
        self.metered.renew();
        self
    }
}

impl MeteredStore {
    fn renew(&mut self) {
        let now = self.linked.runtime.ticks();
        let left = self.ends.map_or(u64::MAX, |ends| ends.saturating_sub(now));
        let one = ticks(self.linked.limits.call_millis.get());
        self.store.set_epoch_deadline(one.min(left));
        self.refuel();
        let all = self.batch_millis();
        let state = self.store.data_mut();
        state.renew();
        if left < one {
            state.window_millis = all;
        }
    }

    /// Gives the store the fuel of one call, or what is left.
    fn refuel(&mut self) {
        if let (Some(left), Some(one)) = (self.fuel_left, self.linked.limits.fuel) {
            let left = left.saturating_add(self.store.get_fuel().unwrap_or(0));
            let now = left.min(one.get());
            self.fuel_left = Some(left - now);
            self.store
                .set_fuel(now)
                .expect("the runtime of a metered plugin counts fuel");
        }
    }

    fn batch_millis(&self) -> u64 {
        let one = self.linked.limits.call_millis.get();
        one.saturating_mul(BATCH_CALLS)
    }

    /// Why the call ended; nobody may enter the store again, and it is dropped here.
    fn failed(mut self, error: wasmtime::Error) -> Error {
        let state = self.store.data_mut();
        state.log.finish();
        let short = self.grant.as_ref().and_then(|grant| grant.short.clone());
        let error = match (state.stop.take(), short) {
            (Some(Stop::Fatal(fatal)), _) => fatal,
            (Some(stop), _) => self.linked.refused(self.function, self.linked.limit(&stop)),
            (None, Some(short)) if error.downcast_ref() == Some(&Trap::OutOfFuel) => short.into(),
            (None, _) => {
                let millis = state.window_millis;
                let panic = state.log.panic_text();
                let fault = self.linked.fault(&error, millis, panic);
                self.linked.refused(self.function, fault)
            }
        };
        self.fault = Some(error.code());
        error
    }

    fn used(&self) -> CallUse {
        let fuel = self.linked.limits.fuel.map(|one| {
            let granted = self.grant.as_ref().map_or(one.get(), |grant| grant.fuel);
            let left = self
                .store
                .get_fuel()
                .unwrap_or(0)
                .saturating_add(self.fuel_left.unwrap_or(0));
            granted.saturating_sub(left)
        });
        let state = self.store.data();
        CallUse {
            function: self.function.to_owned(),
            micros: micros(self.busy),
            fuel,
            memory_bytes: state.memory() as u64,
            host_calls: state.host_calls(),
            sql_micros: micros(state.sql_time),
            sql_rows: state.sql_rows,
            fault: self.fault.map(str::to_owned),
        }
    }
}

impl Drop for MeteredStore {
    fn drop(&mut self) {
        let used = self.used();
        if !self.called && self.fault.is_none() {
            // Made ready and not needed: the answer stood in the ledger.
            if let (Some(meter), Some(grant)) = (&self.meter, &self.grant) {
                meter.give_back(grant);
            }
            return;
        }
        tracing::debug!(
            plugin = &*self.linked.name,
            function = used.function,
            micros = used.micros,
            fuel = used.fuel,
            memory_bytes = used.memory_bytes,
            host_calls = used.host_calls,
            sql_micros = used.sql_micros,
            sql_rows = used.sql_rows,
            fault = used.fault,
            "called"
        );
        if let Some(meter) = &self.meter {
            meter.charge(self.grant.as_ref(), used);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
