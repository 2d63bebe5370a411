//! What one sandbox carries along: its budgets, its log, its transaction.
//!
//! Owns the counting; a budget that is used up is noted in [`Stop`], from where `call.rs` takes the reason of the trap.
//! Never outlives a call.

use std::{collections::HashMap, sync::Arc, time::Duration};

use wasmtime::{ResourceLimiter, component::ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::{
    limits::PluginLimits,
    log::{GuestLog, Stream},
};
use crate::{core::ports::business::Sql, words::error::Error};

/// The host's side of `business.transaction`: nothing but the right to use the sandbox's one transaction.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct Transaction;

/// Why the host ended a call.
pub(super) enum Stop {
    Memory {
        asked: usize,
    },
    Table {
        asked: usize,
    },
    HostCalls,
    Log,
    /// Comes back as it is.
    Fatal(Error),
}

/// The data of one store.
pub(super) struct CallState {
    pub(super) limits: PluginLimits,
    pub(super) stop: Option<Stop>,
    pub(super) sql: Option<Arc<dyn Sql>>,
    pub(super) log: GuestLog,
    pub(super) streams: HashMap<u32, Stream>,
    pub(super) table: ResourceTable,
    pub(super) random: u64,
    pub(super) nanoseconds: u64,
    /// What the call's time is told to have been, should it run out.
    pub(super) window_millis: u64,
    wasi: WasiCtx,
    /// Time inside SQL statements.
    pub(super) sql_time: Duration,
    /// Rows that statements returned or changed.
    pub(super) sql_rows: u64,
    host_calls_left: u64,
    host_calls: u64,
    memory: usize,
    elements: usize,
}

impl CallState {
    pub(super) fn new(limits: PluginLimits, log: GuestLog) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles.get());
        Self {
            stop: None,
            sql: None,
            log,
            streams: HashMap::new(),
            table,
            random: 0,
            nanoseconds: 0,
            window_millis: limits.call_millis.get(),
            // Empty: no files, no environment, no arguments, no network.
            wasi: WasiCtx::builder()
                .allow_tcp(false)
                .allow_udp(false)
                .allow_ip_name_lookup(false)
                .build(),
            sql_time: Duration::ZERO,
            sql_rows: 0,
            host_calls_left: limits.host_calls.get(),
            host_calls: 0,
            memory: 0,
            elements: 0,
            limits,
        }
    }

    /// Counts one call into the host.
    pub(super) fn host_call(&mut self) -> wasmtime::Result<()> {
        match self.host_calls_left.checked_sub(1) {
            Some(left) => {
                self.host_calls_left = left;
                self.host_calls += 1;
                Ok(())
            }
            None => Err(self.stop(Stop::HostCalls)),
        }
    }

    /// Calls into the host so far.
    pub(super) const fn host_calls(&self) -> u64 {
        self.host_calls
    }

    /// Bytes of all memories together.
    pub(super) const fn memory(&self) -> usize {
        self.memory
    }

    /// Starts the budget of host calls anew.
    pub(super) fn renew(&mut self) {
        self.host_calls_left = self.limits.host_calls.get();
    }

    /// Notes why the call ends; the error is what makes it trap.
    pub(super) fn stop(&mut self, stop: Stop) -> wasmtime::Error {
        self.stop.get_or_insert(stop);
        wasmtime::Error::msg("the host ended the call")
    }
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// Counts over all memories and all tables of the store together. Growth beyond the limit is a trap, not a refusal that
/// the plugin would turn into a failure of its own.
impl ResourceLimiter for CallState {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            // Refused by the memory's own type.
            return Ok(false);
        }
        let asked = self.memory.saturating_add(desired.saturating_sub(current));
        if asked > self.limits.memory_bytes.get() {
            return Err(self.stop(Stop::Memory { asked }));
        }
        self.memory = asked;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let asked = self
            .elements
            .saturating_add(desired.saturating_sub(current));
        if asked > self.limits.table_elements.get() {
            return Err(self.stop(Stop::Table { asked }));
        }
        self.elements = asked;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.limits.instances.get() as usize
    }
}
