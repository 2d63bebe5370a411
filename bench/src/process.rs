//! A process of its own for each contender, so that processor time and peak memory are its alone.
//!
//! The parent writes a number of orders on the child's standard input, the child runs them and answers with one line; at
//! the end of the input it closes its workspace and answers once more.

use std::{
    io::{BufRead, BufReader, Write, stdin, stdout},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    contender::{Contender, Name, Setup, Timed},
    database::Commits,
    floor::Floor,
    host::Embedded,
    syncs::Syncs,
    usage::{apparent_bytes, cpu, peak_memory},
};

/// What some orders took that ran over all lanes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// From before the first to after the last.
    pub(crate) wall_micros: f64,
    /// Of each order, from when a lane took it to its end.
    pub(crate) micros: Vec<f64>,
    /// Of all of them together.
    pub(crate) cpu_micros: f64,
    /// Of all of them together.
    pub(crate) syncs: Option<Syncs>,
}

/// What all orders left behind.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Closing {
    pub(crate) peak_memory: Option<u64>,
    /// Apparent bytes of the closed workspace for each order after the first.
    pub(crate) bytes_per_task: f64,
}

/// The child's side.
pub(crate) fn serve(name: Name, setup: &Setup) -> Result<()> {
    let workspace = setup.workspace(name);
    let floor = |commits| Floor::open(setup, &workspace, commits);
    match name {
        Name::Host => serve_with(setup, name, || Embedded::open(setup, &workspace)),
        Name::HostOutputsUnsynced => serve_with(setup, name, || {
            Embedded::open_with(setup, &workspace, false)
        }),
        Name::Floor => serve_with(setup, name, || floor(Commits::Alone)),
        Name::FloorSharedCommits => serve_with(setup, name, || floor(Commits::Shared)),
        Name::FloorAndFiles => serve_with(setup, name, || {
            floor(Commits::Alone)?.with_files(&workspace)
        }),
    }
}

fn serve_with<C: Contender>(setup: &Setup, name: Name, open: impl Fn() -> Result<C>) -> Result<()> {
    let workspace = setup.workspace(name);
    // Once open and closed again, so that all that an order adds can be told from what a workspace has anyway.
    let contender = open()?;
    batch(&contender, 0..1, setup.lanes)?;
    drop(contender);
    let empty = apparent_bytes(&workspace)?;

    let contender = open()?;
    let mut next = 1;
    for line in stdin().lock().lines() {
        let end = next + line?.parse::<u32>()?;
        say(&batch(&contender, next..end, setup.lanes)?)?;
        next = end;
    }
    drop(contender);
    let added = apparent_bytes(&workspace)? - empty;
    say(&Closing {
        peak_memory: peak_memory(),
        bytes_per_task: added as f64 / f64::from(next - 1),
    })
}

/// Runs the orders of these numbers.
pub(crate) fn batch<C: Contender>(
    contender: &C,
    numbers: std::ops::Range<u32>,
    lanes: u32,
) -> Result<Batch> {
    let orders: Vec<_> = numbers
        .map(|number| contender.prepare(number))
        .collect::<Result<_>>()?;
    let (syncs, cpu_before, begun) = (Syncs::so_far(), cpu()?, Instant::now());
    let done = contender.run(orders, lanes)?;
    let batch = Batch {
        wall_micros: begun.elapsed().as_secs_f64() * 1e6,
        micros: done.iter().map(|Timed { micros, .. }| *micros).collect(),
        cpu_micros: (cpu()? - cpu_before).as_secs_f64() * 1e6,
        syncs: syncs.and_then(|before| Some(Syncs::so_far()?.since(before))),
    };
    for Timed { done, .. } in &done {
        contender.check(done)?;
    }
    Ok(batch)
}

fn say<T: Serialize>(answer: &T) -> Result<()> {
    let mut out = stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// The parent's side.
pub(crate) struct Contending {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Contending {
    pub(crate) fn start(name: Name, setup: &Setup) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["contend", &serde_json::to_string(&(name, setup))?])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for as pipes");
        };
        Ok(Self {
            child,
            orders,
            answers: BufReader::new(answers),
        })
    }

    pub(crate) fn batch(&mut self, count: u32) -> Result<Batch> {
        writeln!(self.orders, "{count}")?;
        hear(&mut self.answers)
    }

    pub(crate) fn close(mut self) -> Result<Closing> {
        drop(self.orders);
        let closing = hear(&mut self.answers)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "a contender ended with {status}");
        Ok(closing)
    }
}

fn hear<T: DeserializeOwned>(answers: &mut impl BufRead) -> Result<T> {
    let mut line = String::new();
    answers.read_line(&mut line)?;
    serde_json::from_str(&line).context("a contender failed; its own words stand above")
}
