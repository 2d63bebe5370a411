//! `cargo xtask fuzz`: each target of `fuzz/` for a while, from what is kept of its corpus.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::prerequisites::{self, CARGO_FUZZ};
use crate::process;
use crate::workspace::root;

/// As in `fuzz/fuzz_targets`.
const TARGETS: [&str; 4] = ["plan", "journal", "request", "sql"];

/// For each target, unless it is told otherwise.
const SECONDS: u32 = 20;

/// Runs the targets one after the other; the first one that fails ends it, and leaves its input in `fuzz/artifacts`. What is
/// found besides goes to `target/fuzz-corpus`.
pub(crate) fn run(arguments: &[&str]) -> Result<ExitCode> {
    let seconds = match arguments {
        [] => SECONDS,
        ["--seconds", number] => number
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
            .context("--seconds takes a whole number above 0")?,
        _ => bail!("usage: cargo xtask fuzz [--seconds N]"),
    };
    if !prerequisites::succeeds("c++ --version") {
        bail!(
            "a C++ compiler, called as `c++`, is missing: the fuzzer is written in C++. Install your distribution's"
        );
    }
    CARGO_FUZZ.ensure()?;
    for target in TARGETS {
        let found = format!("target/fuzz-corpus/{target}");
        fs::create_dir_all(root().join(&found))
            .with_context(|| format!("{found} cannot be made"))?;
        let mut fuzz = Command::new("cargo");
        fuzz.current_dir(root())
            // The instrumentation is an unstable option of the compiler that is there anyway.
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--fuzz-dir", "fuzz"])
            .args(["--target-dir", "target/fuzz", "--sanitizer", "none"])
            .args([target, &found, &format!("fuzz/corpus/{target}"), "--"])
            .arg(format!("-max_total_time={seconds}"))
            .args(["-max_len=65536", "-print_final_stats=1", "-verbosity=0"]);
        process::run(&mut fuzz)?;
    }
    println!("{} targets, {seconds} s each, no failure", TARGETS.len());
    Ok(ExitCode::SUCCESS)
}
