//! A guard that needs no clock: what a task takes in instructions and syncs, beside what it took when that was last accepted.
//!
//! Callgrind counts the instructions of the program, the plugin's included, on any machine alike and however busy that is; those
//! of the kernel it does not see. What a process needs before its first task is left out, as the difference of two runs.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::{
    contender::{Name, Setup},
    measurement,
    process::Batch,
    scenario::Scenario,
    table,
};

/// Orders of the two runs.
const FEW: u32 = 5;
const MANY: u32 = 25;

/// Where the accepted counts stand.
fn accepted_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.json")
}

/// What one price-change order takes, one at a time.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Counts {
    instructions: f64,
    database_syncs: f64,
    file_syncs: f64,
    /// How far a count may be from the accepted one.
    tolerance_percent: f64,
}

impl Counts {
    const fn named(self) -> [(&'static str, f64); 3] {
        [
            ("instructions", self.instructions),
            ("database syncs", self.database_syncs),
            ("file syncs", self.file_syncs),
        ]
    }
}

/// What was counted, beside what was accepted.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    counted: Counts,
    accepted: Counts,
}

impl Compared {
    /// Refuses counts that are not the accepted ones, fewer as well: what was won would else be lost again unseen.
    pub(crate) fn check(&self) -> Result<()> {
        let most = self.accepted.tolerance_percent;
        for ((what, counted), (_, accepted)) in
            self.counted.named().into_iter().zip(self.accepted.named())
        {
            let percent = (counted / accepted - 1.0) * 100.0;
            ensure!(
                percent.abs() <= most,
                "the {what} of a task changed by {percent:+.1} %, {most} % are tolerated: find out why, and if it is to be so, \
                 `cargo xtask bench --accept-counts` and commit bench/counts.json"
            );
        }
        Ok(())
    }
}

impl Display for Compared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let head = ["one price-change order", "counted", "accepted"].map(str::to_owned);
        let counted = self.counted.named().into_iter();
        let lines = counted
            .zip(self.accepted.named())
            .map(|((what, counted), (_, accepted))| {
                let number = |value: f64| match what {
                    "instructions" => format!("{value:.0}"),
                    _ => format!("{value:.2}"),
                };
                vec![what.to_owned(), number(counted), number(accepted)]
            });
        let lines: Vec<_> = std::iter::once(head.to_vec()).chain(lines).collect();
        table::write(f, &lines)
    }
}

/// Counts, and accepts that if it is asked to.
pub(crate) fn measure(component: &Path, folder: &Path, accept: bool) -> Result<Compared> {
    let setup = Setup {
        scenario: Scenario::PriceChange,
        lanes: 1,
        component: component.to_owned(),
        folder: folder.to_owned(),
    };
    measurement::record(&setup)?;
    // Callgrind's processor is another one, for which the plugin is compiled anew.
    run(&setup, 1)?;
    let (few, _) = run(&setup, FEW)?;
    let (many, batch) = run(&setup, MANY)?;
    let syncs = batch
        .syncs
        .context("this system has no way to count syncs")?;
    let orders = f64::from(MANY);
    let text = fs::read_to_string(accepted_file());
    let accepted = text.map_err(anyhow::Error::from);
    let accepted = accepted.and_then(|text| Ok(serde_json::from_str::<Counts>(&text)?));
    let counted = Counts {
        instructions: ((many - few) / f64::from(MANY - FEW)).round(),
        database_syncs: (syncs.logs + syncs.databases) as f64 / orders,
        file_syncs: syncs.files as f64 / orders,
        tolerance_percent: accepted
            .as_ref()
            .map_or(5.0, |accepted| accepted.tolerance_percent),
    };
    if accept {
        fs::write(
            accepted_file(),
            serde_json::to_string_pretty(&counted)? + "\n",
        )?;
    }
    Ok(Compared {
        counted,
        accepted: if accept { counted } else { accepted? },
    })
}

/// The instructions of a whole process that runs so many orders, and what it says of them.
fn run(setup: &Setup, orders: u32) -> Result<(f64, Batch)> {
    let workspace = setup.workspace(Name::Host);
    if workspace.exists() {
        fs::remove_dir_all(&workspace)?;
    }
    let counts = setup.folder.join("callgrind");
    let mut out = std::ffi::OsString::from("--callgrind-out-file=");
    out.push(&counts);
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(out)
        .arg(std::env::current_exe()?)
        .args(["contend", &serde_json::to_string(&(Name::Host, setup))?])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("valgrind does not start; on Debian it is the package `valgrind`")?;
    let Some(mut input) = child.stdin.take() else {
        unreachable!("it was asked for as a pipe");
    };
    writeln!(input, "{orders}")?;
    drop(input);
    let said = child.wait_with_output()?;
    ensure!(
        said.status.success(),
        "the counted process ended with {}",
        said.status
    );
    let said = String::from_utf8(said.stdout)?;
    let batch = serde_json::from_str(said.lines().next().unwrap_or_default())?;
    let found = fs::read_to_string(&counts)?;
    let total = found.lines().find_map(|line| {
        let count = line
            .strip_prefix("totals: ")
            .or_else(|| line.strip_prefix("summary: "))?;
        count.trim().parse().ok()
    });
    match total {
        Some(total) => Ok((total, batch)),
        None => bail!("callgrind has written no total"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(instructions: f64, file_syncs: f64) -> Compared {
        let counts = |instructions, file_syncs| Counts {
            instructions,
            database_syncs: 14.0,
            file_syncs,
            tolerance_percent: 5.0,
        };
        Compared {
            counted: counts(instructions, file_syncs),
            accepted: counts(1000.0, 10.0),
        }
    }

    #[test]
    fn a_count_may_be_within_the_tolerance_and_no_further_on_either_side() {
        assert!(compared(1049.0, 10.0).check().is_ok());
        assert!(compared(951.0, 10.0).check().is_ok());
        for (what, wrong) in [
            ("instructions", compared(1051.0, 10.0)),
            ("instructions", compared(949.0, 10.0)),
            ("file syncs", compared(1000.0, 11.0)),
        ] {
            let error = wrong.check().unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
