//! Recovery: a process that runs orders is killed, and another one ends them.
//!
//! The first process holds each order in its middle, where the effect of a step and its ledger row are committed and the
//! journal does not know of it yet. When all are there it is killed (`SIGKILL`), with nothing unwound and nothing flushed.
//! What is measured is the second process, from its start on.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    ops::Range,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wharf::{
    ProgressBody, RunOptions, Task,
    core::{progress::ProgressSink, view::StepState},
};

use crate::{
    contender::{Contender as _, Setup},
    host::Embedded,
    process,
    scenario::Names,
    statistics::Spread,
};

/// The step in the middle: the second of four.
const HELD_AT: &str = "pack_order";

/// What a child prints, one line each.
const HELD: &str = "held";
const OPEN: &str = "open";
const FINISHED: &str = "finished";

/// Orders that are under way when their process is killed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Interruption {
    setup: Setup,
    workspace: PathBuf,
    /// As many as there are lanes.
    numbers: Range<u32>,
}

impl Interruption {
    fn open(&self) -> Result<Embedded> {
        Embedded::open(&self.setup, &self.workspace)
    }
}

/// What it took to end interrupted orders.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Recovery {
    /// How many were interrupted at once.
    pub(crate) orders: u32,
    /// From the start of the process until the first order goes on: the workspace is open, and the order's journal was read.
    pub(crate) open_millis: Spread,
    /// From the start of the process until all orders are finished.
    pub(crate) finished_millis: Spread,
}

/// Interrupts as many orders at once as the setup has lanes, that many times, in a workspace of its own.
pub(crate) fn measure(setup: &Setup, times: u32) -> Result<Recovery> {
    let lanes = setup.lanes;
    eprintln!("measuring the recovery of {lanes} ...");
    fs::create_dir_all(setup.scenario_folder())?;
    setup.scenario.write_script(&setup.script())?;
    let workspace = setup.scenario_folder().join(format!("recovery-of-{lanes}"));
    process::batch(&Embedded::open(setup, &workspace)?, 0..1, 1)?;
    let (mut open, mut finished) = (Vec::new(), Vec::new());
    for time in 0..times {
        let first = 1 + time * lanes;
        let interruption = Interruption {
            setup: setup.clone(),
            workspace: workspace.clone(),
            numbers: first..first + lanes,
        };
        kill_in_the_middle(&interruption)?;
        let (opened, ended) = time_recovery(&interruption)?;
        open.push(opened);
        finished.push(ended);
    }
    Ok(Recovery {
        orders: lanes,
        open_millis: Spread::of(&open),
        finished_millis: Spread::of(&finished),
    })
}

fn kill_in_the_middle(interruption: &Interruption) -> Result<()> {
    let (mut child, mut lines) = start("interrupt", interruption)?;
    let held = interruption
        .numbers
        .clone()
        .try_for_each(|_| expect(&mut lines, HELD));
    child.kill()?;
    let status = child.wait()?;
    held?;
    ensure!(!status.success(), "the process ended before it was killed");
    Ok(())
}

fn time_recovery(interruption: &Interruption) -> Result<(f64, f64)> {
    let begun = Instant::now();
    let (mut child, mut lines) = start("recover", interruption)?;
    let mut until = |line| -> Result<f64> {
        expect(&mut lines, line)?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    let times = until(OPEN).and_then(|open| Ok((open, until(FINISHED)?)));
    let status = child.wait()?;
    ensure!(status.success(), "the recovery ended with {status}");
    times
}

type Lines = std::io::Lines<BufReader<ChildStdout>>;

fn start(command: &str, interruption: &Interruption) -> Result<(Child, Lines)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([command, &serde_json::to_string(interruption)?])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().context("a pipe was asked for")?;
    Ok((child, BufReader::new(stdout).lines()))
}

fn expect(lines: &mut Lines, expected: &str) -> Result<()> {
    let line = lines.next().transpose()?;
    ensure!(
        line.as_deref() == Some(expected),
        "a process was to come to `{expected}`, but came to {line:?}"
    );
    Ok(())
}

/// The process that is to be killed.
pub(crate) fn interrupt(interruption: &Interruption) -> Result<()> {
    let host = interruption.open()?;
    let orders = interruption
        .numbers
        .clone()
        .map(|number| host.prepare(number))
        .collect::<Result<_>>()?;
    let component = host.component();
    host.drive(orders, interruption.setup.lanes, move |order| {
        let mut options = RunOptions::default();
        options.progress = Some(hold());
        Ok((order.task(&component)?, options))
    })?;
    bail!("no order was held")
}

/// Events of a record are told before the record is durable, on the thread that runs the task.
fn hold() -> ProgressSink {
    Arc::new(|progress| {
        let ProgressBody::Record { view, .. } = progress.body else {
            return;
        };
        let done = |step: &wharf::core::view::StepView| {
            step.tool == HELD_AT && step.state == StepState::Completed
        };
        if view.steps.iter().any(done) {
            println!("{HELD}");
            loop {
                thread::park();
            }
        }
    })
}

/// The process that is measured.
pub(crate) fn recover(interruption: &Interruption) -> Result<()> {
    let host = interruption.open()?;
    let numbers = interruption.numbers.clone().collect();
    let told = Arc::new(AtomicBool::new(false));
    let done = host.drive(numbers, interruption.setup.lanes, move |number: u32| {
        let told = Arc::clone(&told);
        let mut options = RunOptions::default();
        options.progress = Some(Arc::new(move |_| {
            if !told.swap(true, Ordering::Relaxed) {
                println!("{OPEN}");
            }
        }));
        Ok((Task::Saved(Names::of(number).task.parse()?), options))
    })?;
    println!("{FINISHED}");
    for order in done {
        host.check(&order.done)?;
        let report: Value = serde_json::from_str(&order.done.report)?;
        let replayed = |step: &Value| step["step"]["tool"] == HELD_AT && step["replayed"] == true;
        let completed = report["completed"].as_array();
        ensure!(
            completed.is_some_and(|steps| steps.iter().any(replayed)),
            "the order was not interrupted where it was to be: {report}"
        );
    }
    Ok(())
}
