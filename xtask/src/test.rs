//! `cargo xtask test`: everything that must hold before a change lands, cheapest first; it stops at
//! the first failure.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::prerequisites::{
    CARGO_DENY, CLIPPY, GUEST_STD, NPX, PYTHON_VENV, REDIS_SERVER, RUSTFMT,
};
use crate::report::Report;
use crate::workspace::{self, PLUGINS, ROOT, Workspace};
use crate::{guests, host};

/// How much is run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// What a change must pass.
    Full,
    /// What one wants every few minutes: no licences, no documentation.
    Quick,
}

/// Installs what is missing, runs the stages, and prints the summary.
pub(crate) fn run(extent: Extent) -> Result<ExitCode> {
    for prerequisite in [GUEST_STD, RUSTFMT, CLIPPY] {
        prerequisite.ensure()?;
    }
    if extent == Extent::Full {
        CARGO_DENY.ensure()?;
    }
    REDIS_SERVER.mention();
    PYTHON_VENV.mention();
    NPX.mention();
    let mut report = Report::start();
    let outcome = stages(extent, &mut report);
    Ok(report.conclude(outcome))
}

fn stages(extent: Extent, report: &mut Report) -> Result<()> {
    format(report)?;
    if extent == Extent::Full {
        dependencies(report)?;
    }
    lints(report)?;
    tests(extent, report)?;
    if extent == Extent::Full {
        documentation(report)?;
    }
    Ok(())
}

fn format(report: &mut Report) -> Result<()> {
    for workspace in workspace::all() {
        let mut fmt = workspace.cargo("fmt");
        fmt.args(["--all", "--check"]);
        report.command(&format!("format, {}", workspace.name), fmt)?;
    }
    Ok(())
}

/// Licences, sources and bans. The list of licences is that of the root, which must need each of
/// them; a guest, with fewer dependencies, need not.
fn dependencies(report: &mut Report) -> Result<()> {
    report.command("dependencies, root", deny(&ROOT, &[]))?;
    for guests in workspace::guests() {
        let deny = deny(guests, &["--allow", "license-not-encountered"]);
        report.command(&format!("dependencies, {}", guests.name), deny)?;
    }
    Ok(())
}

fn deny(workspace: &Workspace, options: &[&str]) -> Command {
    let mut deny = workspace.cargo("deny");
    deny.args(["--config", "deny.toml", "check", "--hide-inclusion-graph"]);
    deny.args(options).args(["bans", "licenses", "sources"]);
    deny
}

/// The plugins are linted twice: as the native code that their own tests run, and as the components
/// they become.
fn lints(report: &mut Report) -> Result<()> {
    for workspace in [&ROOT, &PLUGINS] {
        let mut clippy = workspace.native("clippy");
        clippy.args(["--all-targets", "--", "-D", "warnings"]);
        report.command(&format!("lints, {}", workspace.name), clippy)?;
    }
    for guests in workspace::guests() {
        let mut clippy = guests.components("clippy");
        clippy.args(["--", "-D", "warnings"]);
        report.command(&format!("lints, {} as components", guests.name), clippy)?;
    }
    Ok(())
}

/// The guests and the host's program come first, since the tests of the root load the one and run
/// the other.
fn tests(extent: Extent, report: &mut Report) -> Result<()> {
    report.work("build guests", || guests::build().map(drop))?;
    report.command("build host", host::build())?;
    for workspace in [&PLUGINS, &ROOT] {
        let mut test = workspace.native("test");
        test.arg("--no-fail-fast");
        if extent == Extent::Quick {
            // Leaves out the documentation's examples, each of which is compiled on its own.
            test.arg("--tests");
        }
        report.command(&format!("tests, {}", workspace.name), test)?;
    }
    Ok(())
}

/// A link that leads nowhere is an error.
fn documentation(report: &mut Report) -> Result<()> {
    let mut doc = ROOT.native("doc");
    doc.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
    report.command("documentation", doc)
}
