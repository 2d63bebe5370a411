//! The programs of the root workspace: `wharf`, and those that are built beside it.

use std::path::PathBuf;
use std::process::Command;

use crate::workspace::{PROFILE, ROOT, root};

/// Builds them. All members are named, though one is wanted: so cargo picks the same features of the
/// dependencies as for the tests, and does not compile them again.
pub(crate) fn build() -> Command {
    let mut cargo = ROOT.native("build");
    cargo.arg("--bins");
    cargo
}

/// Where one is, once built.
pub(crate) fn program(name: &str) -> PathBuf {
    root().join(ROOT.target_dir).join(PROFILE).join(name)
}
