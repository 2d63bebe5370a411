//! What the benchmark is told on its command line.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

pub(crate) const USAGE: &str = "\
usage: cargo xtask bench [--rounds N] [--tasks N] [--starts N] [--concurrency N,N,...] [--dir DIR] [--json FILE]
                         [--sql | --calls | --memory | --growth N,N,... | --counts | --accept-counts]

  --rounds N       rounds that are measured (20)
  --tasks N        orders of each contender in each round (10), and at least four for each that runs at once
  --starts N       starts of a process: cold ones, and recoveries of each kind (20)
  --concurrency N,N,...
                   how many orders run at once, one measurement each (1,8,64)
  --dir DIR        a folder on the disk that is to be measured (target/bench)
  --json FILE      also writes all that was measured
  --sql            only what confinement costs a statement
  --calls          only what a sandbox costs a call
  --memory         only what the memory costs, and searches of it
  --growth N,N,...
                   only what a task costs in a workspace with so many finished ones, such as 1000,10000,100000
  --counts         only the instructions and syncs of a task, beside those that were accepted: a difference is an error
  --accept-counts  the same, and accepts them";

/// How much is measured, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) component: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) rounds: u32,
    pub(crate) tasks: u32,
    pub(crate) starts: u32,
    /// Ascending.
    pub(crate) concurrency: Vec<u32>,
    pub(crate) json: Option<PathBuf>,
    /// None: tasks at load, starts and confinement.
    pub(crate) only: Option<Only>,
}

/// A measurement of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Only {
    Sql,
    Calls,
    Memory,
    Counts {
        accept: bool,
    },
    /// At these numbers of finished tasks, ascending.
    Growth(Vec<u32>),
}

impl Options {
    /// From the folder of the plugins, the default folder of what is written, and what the caller typed.
    pub(crate) fn read(words: &[String]) -> Result<Self> {
        let [plugins, dir, typed @ ..] = words else {
            bail!("this program is started by `cargo xtask bench`\n\n{USAGE}");
        };
        let mut options = Self {
            component: Path::new(plugins).join("fulfillment.wasm"),
            dir: dir.into(),
            rounds: 20,
            tasks: 10,
            starts: 20,
            concurrency: vec![1, 8, 64],
            json: None,
            only: None,
        };
        let mut typed = typed.iter();
        while let Some(name) = typed.next() {
            let mut value = || {
                let value = typed.next();
                value.with_context(|| format!("{name} needs a value\n\n{USAGE}"))
            };
            match name.as_str() {
                "--rounds" => options.rounds = number(value()?)?,
                "--tasks" => options.tasks = number(value()?)?,
                "--starts" => options.starts = number(value()?)?,
                "--concurrency" => options.concurrency = numbers(value()?)?,
                "--dir" => options.dir = value()?.into(),
                "--json" => options.json = Some(value()?.into()),
                "--sql" => options.only = Some(Only::Sql),
                "--calls" => options.only = Some(Only::Calls),
                "--memory" => options.only = Some(Only::Memory),
                "--counts" => options.only = Some(Only::Counts { accept: false }),
                "--accept-counts" => options.only = Some(Only::Counts { accept: true }),
                "--growth" => options.only = Some(Only::Growth(numbers(value()?)?)),
                _ => bail!("there is no option {name}\n\n{USAGE}"),
            }
        }
        Ok(options)
    }
}

fn number(word: &str) -> Result<u32> {
    match word.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => bail!("{word} is not a number from 1 upwards\n\n{USAGE}"),
    }
}

/// Each once, the smallest first.
fn numbers(words: &str) -> Result<Vec<u32>> {
    let mut numbers: Vec<_> = words.split(',').map(number).collect::<Result<_>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Options> {
        let words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
        Options::read(&words)
    }

    #[test]
    fn what_was_typed_replaces_the_default() {
        let options = read("plugins target/bench --rounds 3 --sql --json out.json").unwrap();
        assert_eq!((options.rounds, options.tasks), (3, 10));
        assert_eq!(options.only, Some(Only::Sql));
        assert_eq!(options.concurrency, [1, 8, 64]);
        assert_eq!(options.json, Some("out.json".into()));
    }

    #[test]
    fn a_list_is_put_in_order() {
        let options = read("p d --concurrency 8,1,8 --growth 1000,100").unwrap();
        assert_eq!(options.concurrency, [1, 8]);
        assert_eq!(options.only, Some(Only::Growth(vec![100, 1000])));
    }

    #[test]
    fn a_wrong_word_is_refused_with_the_usage() {
        for wrong in [
            "",
            "p d --rounds",
            "p d --rounds 0",
            "p d --round 3",
            "p d --concurrency",
            "p d --concurrency 1,0",
            "p d --concurrency 1,,8",
            "p d --growth 1k",
        ] {
            assert!(
                read(wrong).unwrap_err().to_string().contains("usage:"),
                "{wrong}"
            );
        }
    }
}
