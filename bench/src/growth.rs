//! Growth: what a task costs in a workspace that holds many finished ones.
//!
//! One workspace is filled up to each mark, eight orders at once. At each mark the next orders are run one at a time; then
//! the workspace is closed, its size is taken, and the program `wharf` looks at a single task in the middle of it.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    path::Path,
};

use anyhow::Result;
use serde::Serialize;

use crate::{
    aims::Verdict,
    contender::Setup,
    host::Embedded,
    options::Options,
    process,
    program::{self, argument},
    scenario::{Names, Scenario},
    statistics::Spread,
    table::{self, spread},
    usage::apparent_bytes,
};

/// How many orders fill the workspace at once.
const LANES: u32 = 8;
/// Orders between two messages.
const CHUNK: u32 = 1_000;
/// Orders that are measured at each mark.
const TASKS: u32 = 300;

/// All marks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Growth {
    /// Orders that were measured at each mark.
    tasks: u32,
    /// Starts of `wharf` of each kind at each mark.
    starts: u32,
    marks: Vec<Mark>,
    aims: Vec<Verdict>,
}

/// One workspace at one size.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Mark {
    finished_tasks: u32,
    task_millis: Spread,
    /// Of each of these tasks; a busy disk touches it less.
    cpu_millis: f64,
    /// Apparent bytes of the closed workspace for each task but the first.
    bytes_per_task: f64,
    status_millis: Spread,
    resume_millis: Spread,
}

impl Mark {
    /// What is to stay the same.
    fn figures(&self) -> [(&'static str, f64); 4] {
        [
            ("time per task", self.task_millis.median),
            ("size per task", self.bytes_per_task),
            ("`wharf status` of a task", self.status_millis.median),
            (
                "`wharf resume` of a finished task",
                self.resume_millis.median,
            ),
        ]
    }
}

/// Fills a new workspace in `folder` up to each of these numbers, ascending.
pub(crate) fn measure(marks: &[u32], options: &Options, folder: &Path) -> Result<Growth> {
    let setup = Setup {
        scenario: Scenario::PackedByHand,
        lanes: LANES,
        component: options.component.clone(),
        folder: folder.to_owned(),
    };
    fs::create_dir_all(setup.scenario_folder())?;
    setup.scenario.write_script(&setup.script())?;
    let workspace = setup.scenario_folder().join("growing");
    process::batch(&Embedded::open(&setup, &workspace)?, 0..1, 1)?;
    let empty = apparent_bytes(&workspace)?;

    // The first one was for the seed.
    let mut finished = 1;
    let mut measured = Vec::new();
    for mark in marks {
        let host = Embedded::open(&setup, &workspace)?;
        while finished < *mark {
            eprintln!("{finished} of {mark} tasks ...");
            let end = (finished + CHUNK).min(*mark);
            process::batch(&host, finished..end, LANES)?;
            finished = end;
        }
        let finished_tasks = finished;
        let batch = process::batch(&host, finished..finished + TASKS, 1)?;
        finished += TASKS;
        drop(host);
        let millis: Vec<_> = batch.micros.iter().map(|micros| micros / 1e3).collect();
        let task = Names::of(finished / 2).task;
        let look = |command: &str| -> Result<Spread> {
            let arguments = [command, "--dir", argument(&workspace)?, "--task", &task];
            let millis: Vec<_> = (0..options.starts)
                .map(|_| program::time(&arguments, folder))
                .collect::<Result<_>>()?;
            Ok(Spread::of(&millis))
        };
        measured.push(Mark {
            finished_tasks,
            task_millis: Spread::of(&millis),
            cpu_millis: batch.cpu_micros / 1e3 / f64::from(TASKS),
            bytes_per_task: (apparent_bytes(&workspace)? - empty) as f64 / f64::from(finished - 1),
            status_millis: look("status")?,
            resume_millis: look("resume")?,
        });
    }
    Ok(Growth {
        tasks: TASKS,
        starts: options.starts,
        aims: verdicts(&measured),
        marks: measured,
    })
}

/// Each mark beside the first.
fn verdicts(marks: &[Mark]) -> Vec<Verdict> {
    let Some((first, later)) = marks.split_first() else {
        return Vec::new();
    };
    let against_first = |mark: &Mark| {
        let pairs = mark.figures().into_iter().zip(first.figures());
        let tasks = (first.finished_tasks, mark.finished_tasks);
        pairs
            .map(|((what, now), (_, before))| {
                let what = format!("{what}, {} tasks to {}", tasks.1, tasks.0);
                Verdict::at_most(what, now / before, 1.1, "times")
            })
            .collect::<Vec<_>>()
    };
    later.iter().flat_map(against_first).collect()
}

impl Display for Growth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "one workspace; at each mark {} orders one at a time and {} starts of `wharf`; medians, in brackets the quartiles\n",
            self.tasks, self.starts
        )?;
        let head = [
            "finished tasks",
            "ms per task",
            "to the first",
            "CPU ms",
            "KiB per task",
            "status ms",
            "resume ms",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        lines.extend(self.marks.iter().map(|mark| {
            let first = self.marks.first().unwrap_or(mark);
            vec![
                mark.finished_tasks.to_string(),
                spread(mark.task_millis),
                format!("{:.2}", mark.task_millis.median / first.task_millis.median),
                format!("{:.2}", mark.cpu_millis),
                format!("{:.1}", mark.bytes_per_task / 1024.0),
                spread(mark.status_millis),
                spread(mark.resume_millis),
            ]
        }));
        table::write(f, &lines)?;
        Verdict::write_all(f, &self.aims)
    }
}
