//! `cargo xtask fuzz`: each target of `fuzz/` (with `--components`, that of `fuzz/component/`) for a while, from what is kept of
//! its corpus.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::prerequisites::{self, CARGO_FUZZ};
use crate::process;
use crate::workspace::root;

/// As in `fuzz/fuzz_targets`.
const TARGETS: [&str; 4] = ["plan", "journal", "request", "sql"];

/// As in `fuzz/component/fuzz_targets`: apart, because its build takes minutes.
const COMPONENT: &str = "component";

/// For each target, unless it is told otherwise.
const SECONDS: u32 = 20;

/// Runs the targets one after the other; the first one that fails ends it, and leaves its input in `fuzz/artifacts`. What is
/// found besides goes to `target/fuzz-corpus`.
pub(crate) fn run(arguments: &[&str]) -> Result<ExitCode> {
    let (arguments, folder, targets) = match arguments {
        ["--components", rest @ ..] => (rest, "fuzz/component", &[COMPONENT][..]),
        all => (all, "fuzz", &TARGETS[..]),
    };
    let seconds = match arguments {
        [] => SECONDS,
        ["--seconds", number] => number
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
            .context("--seconds takes a whole number above 0")?,
        _ => bail!("usage: cargo xtask fuzz [--components] [--seconds N]"),
    };
    if !prerequisites::succeeds("c++ --version") {
        bail!(
            "a C++ compiler, called as `c++`, is missing: the fuzzer is written in C++. Install your distribution's"
        );
    }
    CARGO_FUZZ.ensure()?;
    for target in targets {
        let found = format!("target/fuzz-corpus/{target}");
        fs::create_dir_all(root().join(&found))
            .with_context(|| format!("{found} cannot be made"))?;
        let mut fuzz = Command::new("cargo");
        fuzz.current_dir(root())
            // The instrumentation is an unstable option of the compiler that is there anyway.
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--fuzz-dir", folder])
            .args(["--target-dir", "target/fuzz", "--sanitizer", "none"])
            .args([target, &*found, &*format!("{folder}/corpus/{target}"), "--"])
            .arg(format!("-max_total_time={seconds}"))
            .args(["-max_len=65536", "-print_final_stats=1", "-verbosity=0"]);
        process::run(&mut fuzz)?;
    }
    println!("{} targets, {seconds} s each, no failure", targets.len());
    Ok(ExitCode::SUCCESS)
}
