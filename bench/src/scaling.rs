//! Whether fresh sandboxes scale: calls per second of one thread, of one thread for each processor in one process, and of as many
//! processes with one thread each. What threads of one process get in each other's way with is the address space that they share.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    io::{BufRead as _, BufReader, Write as _, stdin, stdout},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Barrier,
    thread,
    time::Instant,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};

use crate::{
    sandbox::{BareChecks, Checks, HostChecks},
    statistics::Spread,
    table::spread,
};

/// Calls of each thread in a round.
const CALLS: u32 = 2_000;

/// What makes the sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Who {
    Host,
    Bare,
}

/// Calls per second, and of each round the ratio to one thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rates {
    who: Who,
    one: Spread,
    threads: Spread,
    threads_to_one: Spread,
    processes: Spread,
    processes_to_one: Spread,
}

/// Of the host and of bare wasmtime.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scaling {
    processors: usize,
    rates: Vec<Rates>,
}

/// Measures rounds in which all take turns.
pub(crate) fn measure(component: &Path, rounds: u32) -> Result<Scaling> {
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let bytes = fs::read(component).with_context(|| component.display().to_string())?;
    let both = [Who::Host, Who::Bare].map(|who| Ok((who, load(who, &bytes)?)));
    let both: Vec<_> = both.into_iter().collect::<Result<_>>()?;
    let mut all = [(); 2].map(|()| [(); 3].map(|()| Vec::new()));
    // The first round warms up.
    for round in 0..=rounds {
        for ((who, checks), measured) in both.iter().zip(&mut all) {
            let rates = [
                on_threads(&**checks, 1)?,
                on_threads(&**checks, processors)?,
                in_processes(component, *who, processors)?,
            ];
            if round > 0 {
                measured
                    .iter_mut()
                    .zip(rates)
                    .for_each(|(all, one)| all.push(one));
            }
        }
    }
    let rates = both
        .iter()
        .zip(&all)
        .map(|((who, _), [one, threads, processes])| {
            let to_one = |many: &[f64]| {
                let ratios = many.iter().zip(one).map(|(many, one)| many / one);
                Spread::of(&ratios.collect::<Vec<_>>())
            };
            Rates {
                who: *who,
                one: Spread::of(one),
                threads: Spread::of(threads),
                threads_to_one: to_one(threads),
                processes: Spread::of(processes),
                processes_to_one: to_one(processes),
            }
        });
    Ok(Scaling {
        processors,
        rates: rates.collect(),
    })
}

fn load(who: Who, bytes: &[u8]) -> Result<Box<dyn Checks>> {
    Ok(match who {
        Who::Host => Box::new(HostChecks::load(bytes)?),
        Who::Bare => Box::new(BareChecks::load(bytes)?),
    })
}

/// Calls per second of all threads together.
fn on_threads(checks: &dyn Checks, threads: usize) -> Result<f64> {
    let start = Barrier::new(threads + 1);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    (0..CALLS).try_for_each(|_| checks.check())
                })
            })
            .collect();
        start.wait();
        let begun = Instant::now();
        for thread in running {
            thread.join().map_err(|_| anyhow!("a thread panicked"))??;
        }
        Ok(f64::from(CALLS) * threads as f64 / begun.elapsed().as_secs_f64())
    })
}

/// Likewise of processes.
fn in_processes(component: &Path, who: Who, processes: usize) -> Result<f64> {
    let told = serde_json::to_string(&(who, component))?;
    let mut children = Vec::new();
    for _ in 0..processes {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["check", &told])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = child.stdout.take().context("it was asked for as a pipe")?;
        let mut said = BufReader::new(said);
        line(&mut said)?;
        children.push((child, said));
    }
    let begun = Instant::now();
    for (child, _) in &mut children {
        drop(child.stdin.take());
    }
    for (_, said) in &mut children {
        line(said)?;
    }
    let rate = f64::from(CALLS) * processes as f64 / begun.elapsed().as_secs_f64();
    for (mut child, _) in children {
        ensure!(child.wait()?.success(), "a process failed");
    }
    Ok(rate)
}

fn line(from: &mut impl std::io::BufRead) -> Result<()> {
    let mut line = String::new();
    ensure!(from.read_line(&mut line)? > 0, "a process ended too early");
    Ok(())
}

/// One of the processes: says when it is ready, calls once its input ends, and says when it is done.
pub(crate) fn check((who, component): (Who, PathBuf)) -> Result<()> {
    let bytes = fs::read(component)?;
    let checks = load(who, &bytes)?;
    checks.check()?;
    let mut out = stdout().lock();
    writeln!(out, "ready")?;
    out.flush()?;
    stdin().lock().read_line(&mut String::new())?;
    (0..CALLS).try_for_each(|_| checks.check())?;
    Ok(writeln!(out, "done")?)
}

impl Display for Scaling {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let many = self.processors;
        writeln!(
            f,
            "\nfresh sandboxes in which the plan is checked, per second\n\n\
             | | one thread | {many} threads | to one | {many} processes | to one |\n|---|--:|--:|--:|--:|--:|"
        )?;
        for rates in &self.rates {
            let who = match rates.who {
                Who::Host => "host, all limits on",
                Who::Bare => "bare wasmtime, its pool as it comes",
            };
            writeln!(
                f,
                "| {who} | {:.0} | {:.0} | {} | {:.0} | {} |",
                rates.one.median,
                rates.threads.median,
                spread(rates.threads_to_one),
                rates.processes.median,
                spread(rates.processes_to_one)
            )?;
        }
        Ok(())
    }
}
