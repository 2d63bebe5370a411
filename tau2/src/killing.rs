//! The same task, killed before and after the commit of each of its changes, and resumed each time.

use anyhow::Result;
use serde_json::Value;

use crate::{
    benchmark::Exercise,
    comparison,
    kill::{Boundary, Kill},
    trial::Trial,
};

/// What came of it.
pub(crate) struct Killed {
    pub(crate) kills: usize,
    pub(crate) faults: Vec<String>,
}

pub(crate) fn run(trial: &Trial, exercise: &Exercise<'_>, whole: &Value) -> Result<Killed> {
    let mut kills = 0;
    for step in exercise.writes() {
        for at in [Boundary::Intended, Boundary::Committed] {
            let step = step.clone();
            trial.kill(&Kill { step, at })?;
            kills += 1;
        }
    }
    trial.run()?;
    let mut found = comparison::compare(trial, exercise)?;
    if comparable(&found.report) != comparable(whole) {
        let shown = format!("the report shows the kills: {}", found.report);
        found.faults.push(shown);
    }
    let faults = found.faults.iter();
    Ok(Killed {
        kills,
        faults: faults.map(|fault| format!("killed: {fault}")).collect(),
    })
}

/// A report without what a kill may change: marks of adopted steps, times, chain heads and counters.
fn comparable(report: &Value) -> Value {
    let mut report = report.clone();
    for member in ["generatedAt", "usage", "journal"] {
        report[member].take();
    }
    for step in report["completed"].as_array_mut().into_iter().flatten() {
        step["replayed"].take();
    }
    report
}
