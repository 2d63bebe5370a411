//! The host's program, `wharf`.

use std::path::PathBuf;
use std::process::Command;

use crate::workspace::{PROFILE, ROOT, root};

/// Builds it. All members are named, though one is wanted: so cargo picks the same features of the
/// dependencies as for the tests, and does not compile them again.
pub(crate) fn build() -> Command {
    let mut cargo = ROOT.native("build");
    cargo.arg("--bins");
    cargo
}

/// Where it is, once built.
pub(crate) fn program() -> PathBuf {
    root().join(ROOT.target_dir).join(PROFILE).join("wharf")
}
