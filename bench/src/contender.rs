//! A process of its own for each contender, so that processor time and peak memory are its alone.
//!
//! The parent writes a number of orders on the child's standard input, the child runs them and answers with one line; at
//! the end of the input it closes its workspace and answers once more.

use std::{
    io::{BufRead, BufReader, Write, stdin, stdout},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    floor::Floor,
    host::Embedded,
    scenario::Scenario,
    syncs::Syncs,
    usage::{apparent_bytes, cpu, peak_memory},
};

/// Who runs the orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Name {
    /// Wharf with the plugin.
    Host,
    /// Plain SQLite: the same statements and the same durable commits.
    Floor,
    /// The floor, and the same files with the same syncs.
    FloorAndFiles,
}

impl Name {
    pub(crate) const ALL: [Self; 3] = [Self::Host, Self::Floor, Self::FloorAndFiles];

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Floor => "floor",
            Self::FloorAndFiles => "floor + files",
        }
    }

    const fn folder(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Floor => "floor",
            Self::FloorAndFiles => "floor-and-files",
        }
    }
}

/// What all contenders of a scenario have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) scenario: Scenario,
    pub(crate) component: PathBuf,
    /// Holds everything that is written.
    pub(crate) folder: PathBuf,
}

impl Setup {
    pub(crate) fn compile_cache(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    pub(crate) fn script(&self) -> PathBuf {
        self.folder.join("script.jsonl")
    }

    pub(crate) fn recording(&self) -> PathBuf {
        self.folder.join("recording.json")
    }

    pub(crate) fn workspace(&self, name: Name) -> PathBuf {
        self.folder.join(name.folder())
    }
}

/// Runs orders in a workspace that is closed when it is dropped.
pub(crate) trait Contender {
    /// An order that was made ready.
    type Order;

    /// Makes an order ready; not measured. Number 0 is the first of a new workspace.
    fn prepare(&self, number: u32) -> Result<Self::Order>;

    /// Runs it to its end; measured.
    fn run(&mut self, order: Self::Order) -> Result<()>;
}

/// What some orders in a row took.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Of each order, from beginning to end.
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
    match name {
        Name::Host => serve_with(setup, name, || Embedded::open(setup, &workspace)),
        Name::Floor => serve_with(setup, name, || Floor::open(setup, &workspace)),
        Name::FloorAndFiles => serve_with(setup, name, || {
            Floor::open(setup, &workspace)?.with_files(&workspace)
        }),
    }
}

fn serve_with<C: Contender>(setup: &Setup, name: Name, open: impl Fn() -> Result<C>) -> Result<()> {
    let workspace = setup.workspace(name);
    // Once open and closed again, so that all that an order adds can be told from what a workspace has anyway.
    let mut contender = open()?;
    let first = contender.prepare(0)?;
    contender.run(first)?;
    drop(contender);
    let empty = apparent_bytes(&workspace)?;

    let mut contender = open()?;
    let mut orders = 0;
    for line in stdin().lock().lines() {
        let count: u32 = line?.parse()?;
        say(&batch(&mut contender, orders + 1, count)?)?;
        orders += count;
    }
    drop(contender);
    let added = apparent_bytes(&workspace)? - empty;
    say(&Closing {
        peak_memory: peak_memory(),
        bytes_per_task: added as f64 / f64::from(orders),
    })
}

fn batch<C: Contender>(contender: &mut C, from: u32, count: u32) -> Result<Batch> {
    let orders: Vec<_> = (from..from + count)
        .map(|number| contender.prepare(number))
        .collect::<Result<_>>()?;
    let mut micros = Vec::with_capacity(orders.len());
    let (syncs, cpu_before) = (Syncs::so_far(), cpu()?);
    for order in orders {
        let begun = Instant::now();
        contender.run(order)?;
        micros.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    Ok(Batch {
        micros,
        cpu_micros: (cpu()? - cpu_before).as_secs_f64() * 1e6,
        syncs: syncs.and_then(|before| Some(Syncs::so_far()?.since(before))),
    })
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
