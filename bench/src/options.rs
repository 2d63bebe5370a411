//! What the benchmark is told on its command line.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

pub(crate) const USAGE: &str = "\
usage: cargo xtask bench [--rounds N] [--tasks N] [--starts N] [--dir DIR] [--json FILE] [--sql] [--calls] [--memory]

  --rounds N   rounds that are measured (20)
  --tasks N    orders of each contender in each round (10)
  --starts N   cold starts (20)
  --dir DIR    a folder on the disk that is to be measured (target/bench)
  --json FILE  also writes all that was measured
  --sql        only what confinement costs a statement
  --calls      only what a sandbox costs a call
  --memory     only what the memory costs, and searches of it";

/// How much is measured, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) component: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) rounds: u32,
    pub(crate) tasks: u32,
    pub(crate) starts: u32,
    pub(crate) json: Option<PathBuf>,
    pub(crate) sql: bool,
    pub(crate) calls: bool,
    pub(crate) memory: bool,
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
            json: None,
            sql: false,
            calls: false,
            memory: false,
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
                "--dir" => options.dir = value()?.into(),
                "--sql" => options.sql = true,
                "--calls" => options.calls = true,
                "--memory" => options.memory = true,
                "--json" => options.json = Some(value()?.into()),
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
        assert_eq!((options.rounds, options.tasks, options.sql), (3, 10, true));
        assert_eq!(options.json, Some("out.json".into()));
    }

    #[test]
    fn a_wrong_word_is_refused_with_the_usage() {
        for wrong in ["", "p d --rounds", "p d --rounds 0", "p d --round 3"] {
            assert!(
                read(wrong).unwrap_err().to_string().contains("usage:"),
                "{wrong}"
            );
        }
    }
}
