//! What is aimed at, and whether it is reached.

use std::fmt::{self, Formatter};

use serde::Serialize;

use crate::{
    contender::Name,
    measurement::{Measured, Table},
    recovery::Recovery,
    statistics::Spread,
    table,
};

const MIB: f64 = 1_048_576.0;
const KIB: f64 = 1024.0;

/// One aim beside what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    what: String,
    measured: String,
    aim: String,
    /// How many times as much as was aimed at, or as little; none: it is reached.
    missed_by: Option<f64>,
}

impl Verdict {
    pub(crate) fn at_most(what: String, measured: f64, most: f64, unit: &str) -> Self {
        Self {
            what,
            measured: format!("{measured:.2} {unit}").trim_end().to_owned(),
            aim: format!("at most {most} {unit}").trim_end().to_owned(),
            missed_by: missed(measured / most),
        }
    }

    /// Of all tables of a run.
    pub(crate) fn of_tables(tables: &[Table]) -> Vec<Self> {
        tables
            .iter()
            .filter_map(|table| Some((table, table.of(Name::Host)?)))
            .flat_map(|(table, host)| of_host(table, host))
            .collect()
    }

    pub(crate) fn of_cold_start(millis: Spread) -> Self {
        Self::at_most("cold start".to_owned(), millis.median, 100.0, "ms")
    }

    pub(crate) fn of_recovery(recovery: &Recovery) -> Self {
        let what = match recovery.orders {
            1 => "recovery of one order".to_owned(),
            orders => format!("recovery of {orders} orders"),
        };
        Self::at_most(what, recovery.finished_millis.median, 50.0, "ms")
    }

    /// As a table.
    pub(crate) fn write_all(f: &mut Formatter<'_>, verdicts: &[Self]) -> fmt::Result {
        if verdicts.is_empty() {
            return Ok(());
        }
        let head = ["host", "measured", "aim", ""].map(str::to_owned).to_vec();
        let lines = verdicts.iter().map(|verdict| {
            let reached = verdict.missed_by.map_or_else(
                || "reached".to_owned(),
                |factor| format!("missed by a factor of {factor:.2}"),
            );
            let Self {
                what,
                measured,
                aim,
                ..
            } = verdict.clone();
            vec![what, measured, aim, reached]
        });
        writeln!(f)?;
        table::write(f, &[head].into_iter().chain(lines).collect::<Vec<_>>())
    }
}

/// Those that hold at the table's concurrency.
fn of_host(table: &Table, host: &Measured) -> Vec<Verdict> {
    let lanes = table.concurrency;
    let verdict = |what: &str, measured, most, unit: &str| {
        let what = format!("{} at {lanes}: {what}", table.scenario.name());
        Verdict::at_most(what, measured, most, unit)
    };
    let to_floor = |most| verdict("time", host.to_floor.median, most, "times F1");
    let mut verdicts = Vec::new();
    match lanes {
        1 => verdicts.push(to_floor(1.0)),
        8 => verdicts.push(to_floor(0.5)),
        64 => verdicts.push(many(table, host)),
        _ => (),
    }
    verdicts.push(verdict("CPU per task", host.cpu_millis, 2.0, "ms"));
    let syncs = match lanes {
        1 => Some(14.0),
        64 => Some(3.0),
        _ => None,
    };
    if let (Some(most), Some(syncs)) = (syncs, host.syncs) {
        let made = syncs.logs + syncs.databases;
        verdicts.push(verdict("database syncs per task", made, most, ""));
    }
    if let (8, Some(bytes)) = (lanes, host.peak_memory_bytes) {
        verdicts.push(verdict("peak memory", bytes as f64 / MIB, 40.0, "MiB"));
    }
    verdicts.push(verdict(
        "size per finished task",
        host.bytes_per_task / KIB,
        8.0,
        "KiB",
    ));
    verdicts
}

/// Either is enough.
fn many(table: &Table, host: &Measured) -> Verdict {
    const PER_SECOND: f64 = 1000.0;
    const TO_SHARED_COMMITS: f64 = 1.5;
    let (per_second, ratio) = (host.tasks_per_second, host.to_shared_commits.median);
    Verdict {
        what: format!(
            "{} at {}: throughput",
            table.scenario.name(),
            table.concurrency
        ),
        measured: format!("{per_second:.0} tasks/s, {ratio:.2} times F2"),
        aim: format!("at least {PER_SECOND} tasks/s or at most {TO_SHARED_COMMITS} times F2"),
        missed_by: missed((PER_SECOND / per_second).min(ratio / TO_SHARED_COMMITS)),
    }
}

fn missed(factor: f64) -> Option<f64> {
    (factor > 1.0).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_that_is_met_exactly_is_reached_and_one_that_is_not_tells_by_how_much() {
        let verdict = |measured| Verdict::at_most("w".to_owned(), measured, 50.0, "ms");
        assert_eq!(verdict(50.0).missed_by, None);
        assert_eq!(verdict(75.0).missed_by, Some(1.5));
        assert_eq!(verdict(75.0).measured, "75.00 ms");
    }
}
