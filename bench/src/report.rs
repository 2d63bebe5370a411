//! What is printed: one table for each scenario in Markdown, the cold start, and the aims beside them.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use crate::{
    confinement::Costs,
    measurement::{Measured, Spread, Table},
};

/// All that was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) cpus: usize,
    pub(crate) rounds: u32,
    pub(crate) tasks_per_round: u32,
    /// One sync of a file that grew by 4 KiB.
    pub(crate) sync_micros: Spread,
    pub(crate) tables: Vec<Table>,
    pub(crate) cold_start_millis: Spread,
    pub(crate) confinement: Costs,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            cpus,
            rounds,
            tasks_per_round,
            sync_micros: sync,
            ..
        } = self;
        writeln!(
            f,
            "{cpus} CPUs; a sync of 4 KiB takes {:.0} us ({:.0} to {:.0}); {rounds} rounds of {tasks_per_round} orders; \
             in brackets the quartiles of the rounds",
            sync.median, sync.low, sync.high
        )?;
        for table in &self.tables {
            writeln!(f, "\n{}, one order at a time\n", table.scenario.name())?;
            write_table(f, &table.rows)?;
        }
        let cold = self.cold_start_millis;
        writeln!(
            f,
            "\ncold start (`wharf demo`, compile cache warm): {:.0} ms ({:.0} to {:.0}); aim: under 100 ms",
            cold.median, cold.low, cold.high
        )?;
        write!(f, "\n{}", self.confinement)
    }
}

const HEAD: [&str; 11] = [
    "",
    "tasks/s",
    "time to floor",
    "to floor + files",
    "p50 ms",
    "p99 ms",
    "CPU ms",
    "database syncs",
    "file syncs",
    "peak MiB",
    "KiB per task",
];

fn write_table(f: &mut Formatter<'_>, rows: &[Measured]) -> fmt::Result {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    lines.push(HEAD.map(|column| {
        match column {
            "" => "aim",
            "time to floor" => "host: at most 1.3",
            "database syncs" => "at most 14",
            _ => "",
        }
        .to_owned()
    }));
    let widths: [usize; HEAD.len()] = std::array::from_fn(|column| {
        lines
            .iter()
            .map(|line| line[column].len())
            .max()
            .unwrap_or(0)
    });
    for (index, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(widths) {
            write!(f, "| {cell:>width$} ")?;
        }
        writeln!(f, "|")?;
        if index == 0 {
            widths
                .iter()
                .try_for_each(|width| write!(f, "|{:->1$}:", "", width + 1))?;
            writeln!(f, "|")?;
        }
    }
    Ok(())
}

fn cells(row: &Measured) -> [String; HEAD.len()] {
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
    [
        row.name.text().to_owned(),
        format!("{:.0}", row.tasks_per_second),
        ratio(row.to_floor),
        ratio(row.to_floor_and_files),
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
    ]
}

fn ratio(ratio: Spread) -> String {
    let Spread { low, median, high } = ratio;
    format!("{median:.2} ({low:.2} to {high:.2})")
}
