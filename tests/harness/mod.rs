//! What the tests share: the built programs, commands in surroundings of their own, workspaces that vanish, and readers for
//! what outside tools read.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests open databases, find their own binary and may fail by panicking"
)]

pub mod alone;
pub mod built;
pub mod command;
pub mod crash_matrix;
pub mod demo;
pub mod disk;
pub mod effects;
pub mod gated;
pub mod halfway;
pub mod hostile;
pub mod hostile_program;
pub mod library;
pub mod losses;
pub mod many_at_once;
pub mod mcp;
pub mod model;
pub mod patience;
pub mod probe;
pub mod redis;
pub mod rows;
pub mod script;
pub mod small_disk;
pub mod trace;
pub mod unprivileged;
pub mod workspace;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

pub use self::{
    command::{Ran, Wharf, wharf},
    workspace::{Workspace, changes},
};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Says that a test cannot do what it is for on this machine. Past the runner's capture: `cargo xtask test` counts these lines.
pub fn skipped(why: &str) {
    let line = format!("\nskipped: {why}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// All Rust files below a folder.
pub fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// The SHA-256 of some bytes in hexadecimal digits; not by the product's own function.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
