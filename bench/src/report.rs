//! What is printed: one table for each scenario and concurrency in Markdown, the starts, and the aims beside them.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use crate::{
    aims::Verdict,
    confinement::Costs,
    measurement::{Measured, Table},
    recovery::Recovery,
    statistics::Spread,
    table::{self, spread},
};

/// All that was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) cpus: usize,
    pub(crate) rounds: u32,
    pub(crate) starts: u32,
    /// One sync of a file that grew by 4 KiB.
    pub(crate) sync_micros: Spread,
    pub(crate) tables: Vec<Table>,
    pub(crate) cold_start_millis: Spread,
    pub(crate) recoveries: Vec<Recovery>,
    pub(crate) aims: Vec<Verdict>,
    pub(crate) confinement: Costs,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            cpus,
            rounds,
            starts,
            sync_micros: sync,
            ..
        } = self;
        writeln!(
            f,
            "{cpus} CPUs; a sync of 4 KiB takes {:.0} us ({:.0} to {:.0}); {rounds} rounds; {starts} starts of each kind; \
             in brackets the quartiles of the rounds",
            sync.median, sync.low, sync.high
        )?;
        for table in &self.tables {
            let Table {
                scenario,
                concurrency,
                tasks_per_round,
                rows,
            } = table;
            let scenario = scenario.name();
            let at_once = match concurrency {
                1 => "one order at a time".to_owned(),
                several => format!("{several} at once"),
            };
            writeln!(
                f,
                "\n**{scenario}**, {at_once}, {tasks_per_round} orders in a round\n"
            )?;
            let head = HEAD.map(str::to_owned).to_vec();
            let lines: Vec<_> = [head].into_iter().chain(rows.iter().map(cells)).collect();
            table::write(f, &lines)?;
        }
        writeln!(
            f,
            "\ncold start (`wharf demo`, compile cache warm): {} ms",
            spread(self.cold_start_millis)
        )?;
        for Recovery {
            orders,
            open_millis,
            finished_millis,
        } in &self.recoveries
        {
            writeln!(
                f,
                "recovery of {orders} killed: {} ms until finished, the first goes on after {} ms",
                spread(*finished_millis),
                spread(*open_millis)
            )?;
        }
        Verdict::write_all(f, &self.aims)?;
        write!(f, "\n{}", self.confinement)
    }
}

const HEAD: [&str; 12] = [
    "",
    "tasks/s",
    "time to F1",
    "time to F2",
    "to floor + files",
    "p50 ms",
    "p99 ms",
    "CPU ms",
    "database syncs",
    "file syncs",
    "peak MiB",
    "KiB per task",
];

fn cells(row: &Measured) -> Vec<String> {
    const UNKNOWN: &str = "-";
    let [databases, files] = row.syncs.map_or_else(
        || [UNKNOWN; 2].map(str::to_owned),
        |syncs| {
            [
                (syncs.logs + syncs.databases, syncs.database_millis),
                (syncs.files, syncs.file_millis),
            ]
            .map(|(count, millis)| format!("{count:.1} ({millis:.1} ms)"))
        },
    );
    let cells: [String; HEAD.len()] = [
        row.name.text().to_owned(),
        format!("{:.0}", row.tasks_per_second),
        spread(row.to_floor),
        spread(row.to_shared_commits),
        spread(row.to_floor_and_files),
        format!("{:.2}", row.p50_millis),
        format!("{:.2}", row.p99_millis),
        format!("{:.2}", row.cpu_millis),
        databases,
        files,
        row.peak_memory_bytes.map_or_else(
            || UNKNOWN.to_owned(),
            |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)),
        ),
        format!("{:.1}", row.bytes_per_task / 1024.0),
    ];
    cells.into()
}
