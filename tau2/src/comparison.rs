//! What a finished task left behind, beside what the benchmark says it must.

use std::fs;

use anyhow::{Result, anyhow};
use retail_data::Dump;
use serde_json::Value;
use wharf::{HostLimits, host::audit};
use wharf_plugin::{Tx, testing::Database};

use crate::{benchmark::Exercise, calls::Calls, trial::Trial};

/// What was found, counted where it stands, and everything that is not as it must be.
pub(crate) struct Found {
    pub(crate) report: Value,
    pub(crate) state_equal: bool,
    /// Changes that the plugin noted in its own rows, in the transaction of each.
    pub(crate) writes: usize,
    /// Those that left other data behind.
    pub(crate) changes: usize,
    pub(crate) reads: usize,
    pub(crate) declined: usize,
    pub(crate) faults: Vec<String>,
}

/// Reads a workspace whose task has come to its end.
pub(crate) fn compare(trial: &Trial, exercise: &Exercise<'_>) -> Result<Found> {
    let report = fs::read_to_string(trial.report())?;
    let report: Value = serde_json::from_str(&report)?;
    let database = Database::open(&trial.workspace().join("business.sqlite"))?;
    let noted = noted(&database)?;
    let dump = Dump::read(&database).map_err(|error| anyhow!("{error:?}"))?;
    let gold = exercise.gold;
    let state_equal =
        dump.tau2_hash() == gold.tau2_hash && dump.canonical_hash() == gold.canonical_hash;

    let mut faults = Vec::new();
    let mut fault = |holds: bool, what: String| {
        if !holds {
            faults.push(what);
        }
    };
    fault(
        state_equal,
        format!("the end state is {}", dump.tau2_hash()),
    );
    fault(
        answers(&report, exercise),
        format!("other answers: {report}"),
    );
    let expected = exercise.written();
    fault(
        noted == expected,
        format!("the plugin noted {noted:?} instead of {expected:?}"),
    );
    let ledger = ledger(&database)?;
    fault(
        ledger.iter().eq(expected.iter().map(|(tool, _)| tool)),
        format!("the ledger holds {ledger:?} instead of {expected:?}"),
    );
    let calls = Calls::read(trial.calls())?;
    for step in exercise.writes() {
        let count = calls.iter().filter(|call| **call == step).count();
        fault(
            count == 1,
            format!("the plugin was called {count} times for {step}"),
        );
    }
    let audit = audit(
        trial.workspace(),
        None,
        Some(trial.compile_cache()),
        &HostLimits::standard(),
    )?;
    fault(audit.is_clean(), format!("the audit found {audit:?}"));

    let completed = report["completed"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let declined = completed.iter().filter(|step| step["declined"] == true);
    let reads = completed
        .iter()
        .filter(|step| step["operationKey"].is_null() && step["declined"] == false);
    Ok(Found {
        state_equal,
        writes: noted.len(),
        changes: noted.iter().filter(|(_, changed)| *changed).count(),
        reads: reads.count(),
        declined: declined.count(),
        faults,
        report,
    })
}

/// Whether each step was answered as the benchmark's own tool answers it.
fn answers(report: &Value, exercise: &Exercise<'_>) -> bool {
    let found = report["result"]["answers"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let found = found.iter().map(|answer| {
        let text = |name: &str| answer[name].as_str();
        (text("tool"), answer["ok"].as_bool(), text("error"))
    });
    let expected = exercise.gold.steps.iter();
    found.eq(expected.map(|step| (Some(step.name.as_str()), Some(step.ok), step.message())))
}

fn noted(database: &Database) -> Result<Vec<(String, bool)>> {
    let sql = "SELECT tool, changed FROM operations ORDER BY number";
    Tx::over(database)
        .rows(sql, &[])
        .map_err(|error| anyhow!("{error:?}"))
}

fn ledger(database: &Database) -> Result<Vec<String>> {
    let sql = "SELECT tool FROM wharf_ledger ORDER BY sequence";
    let rows: Vec<(String,)> = Tx::over(database)
        .rows(sql, &[])
        .map_err(|error| anyhow!("{error:?}"))?;
    Ok(rows.into_iter().map(|(tool,)| tool).collect())
}
