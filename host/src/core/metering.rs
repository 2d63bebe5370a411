//! What the plugin's calls of one task used, and the fuel that they may still burn.
//!
//! Owns the arithmetic of fuel budgets: a call is granted what the task and the workspace have left before it begins, and is
//! charged what it burnt, however it ended. The plugin layer grants and measures, the driver writes what was charged into the
//! journal. Within one process a budget is never exceeded; two processes that run tasks of one workspace at the same time may
//! together exceed the workspace's by what is granted to the calls that run at that moment.

use std::{
    collections::BTreeMap,
    num::NonZeroU64,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::ports::journal::Journal;
use crate::words::error::{Error, Facts, Fault, Kind};

/// What one call of a plugin used: one sandbox, from its instantiation to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallUse {
    /// The export that was called. A batch of candidates in one sandbox is one call.
    pub function: String,
    /// Microseconds of wall-clock time, SQL included, waiting for a sandbox not.
    pub micros: u64,
    /// Instructions as wasmtime counts them; none: not metered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// Bytes of all linear memories together, at the highest; memories never shrink.
    pub memory_bytes: u64,
    /// Calls into the host.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub host_calls: u64,
    /// Microseconds inside SQL statements.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sql_micros: u64,
    /// Rows that statements returned or changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sql_rows: u64,
    /// The code of the fault that ended it; none: it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What all calls of one export used together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallTotals {
    /// Calls.
    pub calls: u64,
    /// Those that ended in a fault.
    pub faults: u64,
    /// Microseconds of wall-clock time.
    pub micros: u64,
    /// Fuel of the calls that were metered; none: none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// The most memory of one call, in bytes.
    pub memory_bytes: u64,
    /// Calls into the host.
    pub host_calls: u64,
    /// Microseconds inside SQL statements.
    pub sql_micros: u64,
    /// Rows that statements returned or changed.
    pub sql_rows: u64,
}

impl CallTotals {
    fn of(call: &CallUse) -> Self {
        Self {
            calls: 1,
            faults: u64::from(call.fault.is_some()),
            micros: call.micros,
            fuel: call.fuel,
            memory_bytes: call.memory_bytes,
            host_calls: call.host_calls,
            sql_micros: call.sql_micros,
            sql_rows: call.sql_rows,
        }
    }

    fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.faults = self.faults.saturating_add(other.faults);
        self.micros = self.micros.saturating_add(other.micros);
        if let Some(fuel) = other.fuel {
            self.fuel = Some(self.fuel.unwrap_or(0).saturating_add(fuel));
        }
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.host_calls = self.host_calls.saturating_add(other.host_calls);
        self.sql_micros = self.sql_micros.saturating_add(other.sql_micros);
        self.sql_rows = self.sql_rows.saturating_add(other.sql_rows);
    }
}

/// What the calls of a task used, by export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CallSums(BTreeMap<String, CallTotals>);

impl CallSums {
    /// Adds calls.
    pub fn add(&mut self, calls: &[CallUse]) {
        for call in calls {
            let sum = self.0.entry(call.function.clone()).or_default();
            sum.add(&CallTotals::of(call));
        }
    }

    /// All calls together.
    #[must_use]
    pub fn total(&self) -> CallTotals {
        let mut total = CallTotals::default();
        self.0.values().for_each(|sum| total.add(sum));
        total
    }
}

/// How much fuel may be burnt; none: as much as each call may on its own. Only calls of metered plugins burn fuel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuelBudgets {
    /// By one task, over all its runs.
    pub task: Option<NonZeroU64>,
    /// By all tasks of a workspace together, as long as it exists.
    pub workspace: Option<NonZeroU64>,
}

/// Fuel of a workspace that this process has granted or charged and not yet recorded. Shared by its tasks.
#[derive(Debug, Default)]
pub struct Outstanding(Mutex<u64>);

impl Outstanding {
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts what the calls of one run of a task use.
pub struct Meter {
    budgets: FuelBudgets,
    journal: Option<Arc<dyn Journal>>,
    outstanding: Arc<Outstanding>,
    tab: Mutex<Tab>,
}

#[derive(Default)]
struct Tab {
    /// Fuel that the task has burnt, earlier runs included.
    burnt: u64,
    /// Fuel that is granted to calls of this run which have not ended.
    granted: u64,
    /// Fuel of this run that is not recorded yet, granted or charged: its part of what is outstanding.
    unrecorded: u64,
    calls: Vec<CallUse>,
}

/// What one call may burn. Given back with what it did burn.
#[derive(Debug)]
#[must_use]
pub struct Grant {
    /// Fuel.
    pub fuel: u64,
    /// The budget that made it less than was asked for.
    pub short: Option<FuelError>,
}

impl Meter {
    /// For a run of a task that has burnt this much before. No journal: a workspace in which nothing was burnt yet.
    #[must_use]
    pub fn new(
        budgets: FuelBudgets,
        burnt: u64,
        journal: Option<Arc<dyn Journal>>,
        outstanding: Arc<Outstanding>,
    ) -> Self {
        Self {
            budgets,
            journal,
            outstanding,
            tab: Mutex::new(Tab {
                burnt,
                ..Tab::default()
            }),
        }
    }

    /// Fuel for a call that may burn `most`, as far as the budgets go.
    ///
    /// # Errors
    /// A budget is used up; the journal cannot be read.
    pub fn grant(&self, most: u64) -> Result<Grant, Error> {
        let mut tab = self.tab();
        let mut outstanding = self.outstanding.lock();
        let mut grant = Grant {
            fuel: most,
            short: None,
        };
        let mut bounded = |budget: Option<NonZeroU64>, spent: u64, short: fn(u64) -> FuelError| {
            let Some(budget) = budget else { return };
            let left = budget.get().saturating_sub(spent);
            if left < grant.fuel {
                grant = Grant {
                    fuel: left,
                    short: Some(short(budget.get())),
                };
            }
        };
        let spent = tab.burnt.saturating_add(tab.granted);
        bounded(self.budgets.task, spent, |budget| FuelError::Task {
            budget,
        });
        if self.budgets.workspace.is_some() {
            let recorded = self
                .journal
                .as_ref()
                .map_or(Ok(0), |journal| journal.burnt())?;
            let spent = recorded.saturating_add(*outstanding);
            bounded(self.budgets.workspace, spent, |budget| {
                FuelError::Workspace { budget }
            });
        }
        if let (0, Some(short)) = (grant.fuel, &grant.short) {
            return Err(short.clone().into());
        }
        tab.granted = tab.granted.saturating_add(grant.fuel);
        tab.unrecorded = tab.unrecorded.saturating_add(grant.fuel);
        *outstanding = outstanding.saturating_add(grant.fuel);
        Ok(grant)
    }

    /// A call has ended: what it burnt is charged, the rest of its grant given back.
    pub fn charge(&self, grant: Option<&Grant>, call: CallUse) {
        let mut tab = self.tab();
        let granted = grant.map_or(0, |grant| grant.fuel);
        let burnt = call.fuel.unwrap_or(0);
        tab.granted = tab.granted.saturating_sub(granted);
        tab.burnt = tab.burnt.saturating_add(burnt);
        self.release(&mut tab, granted.saturating_sub(burnt));
        tab.calls.push(call);
    }

    /// Nothing was called, nothing is charged.
    pub fn give_back(&self, grant: &Grant) {
        let mut tab = self.tab();
        tab.granted = tab.granted.saturating_sub(grant.fuel);
        self.release(&mut tab, grant.fuel);
    }

    /// A call that was made before this meter was, under no budget.
    pub fn adopt(&self, calls: Vec<CallUse>) {
        for call in calls {
            self.charge(None, call);
        }
    }

    /// The calls since the last time, for the journal.
    #[must_use]
    pub fn take(&self) -> Vec<CallUse> {
        std::mem::take(&mut self.tab().calls)
    }

    /// These calls stand in the journal, durably.
    pub fn recorded(&self, calls: &[CallUse]) {
        let fuel = calls.iter().filter_map(|call| call.fuel).sum();
        self.release(&mut self.tab(), fuel);
    }

    fn release(&self, tab: &mut Tab, fuel: u64) {
        let fuel = fuel.min(tab.unrecorded);
        tab.unrecorded -= fuel;
        let mut outstanding = self.outstanding.lock();
        *outstanding = outstanding.saturating_sub(fuel);
    }

    fn tab(&self) -> MutexGuard<'_, Tab> {
        self.tab.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Meter {
    /// What could not be recorded is nobody's any more.
    fn drop(&mut self) {
        let mut tab = std::mem::take(&mut *self.tab());
        let all = tab.unrecorded;
        self.release(&mut tab, all);
    }
}

/// A fuel budget that is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FuelError {
    /// The task's.
    #[error("the task's fuel budget of {budget} is used up")]
    Task {
        /// The budget.
        budget: u64,
    },
    /// The workspace's.
    #[error("the workspace's fuel budget of {budget} is used up")]
    Workspace {
        /// The budget.
        budget: u64,
    },
}

impl Fault for FuelError {
    fn facts(&self) -> Facts {
        match self {
            Self::Task { .. } => Facts::new(
                "task-fuel-budget",
                Kind::Limit,
                "raise `workspace.task_fuel` in wharf.toml, then `wharf resume`",
            ),
            Self::Workspace { .. } => Facts::new(
                "workspace-fuel-budget",
                Kind::Limit,
                "raise `workspace.fuel` in wharf.toml, then `wharf resume`",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        Some("what its plugin's calls burnt is charged, those that failed included".to_owned())
    }
}
