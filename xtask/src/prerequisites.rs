//! What the commands need beyond git, rustup's Rust and a C compiler: installed where that can be
//! done, and otherwise named, with the command that gets it.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::process;
use crate::workspace::root;

/// The target that plugins are built for.
pub(crate) const GUEST_TARGET: &str = "wasm32-wasip2";

/// The standard library of the guests' target.
pub(crate) const GUEST_STD: Prerequisite = Prerequisite {
    name: "the Rust target wasm32-wasip2",
    present: has_guest_std,
    install: "rustup target add wasm32-wasip2",
    otherwise: "Without rustup, install your distribution's package of that target",
};

/// `cargo fmt`.
pub(crate) const RUSTFMT: Prerequisite = Prerequisite {
    name: "rustfmt",
    present: || succeeds("cargo fmt --version"),
    install: "rustup component add rustfmt",
    otherwise: "Without rustup, install your distribution's package of rustfmt",
};

/// `cargo clippy`.
pub(crate) const CLIPPY: Prerequisite = Prerequisite {
    name: "clippy",
    present: || succeeds("cargo clippy --version"),
    install: "rustup component add clippy",
    otherwise: "Without rustup, install your distribution's package of clippy",
};

/// `cargo deny`, of any version that is there; else this one, in cargo's own folder of programs, so
/// that it is built once for all clones. Unoptimised: that saves minutes, and the check
/// itself still takes a second or two.
pub(crate) const CARGO_DENY: Prerequisite = Prerequisite {
    name: "cargo-deny",
    present: || succeeds("cargo deny --version"),
    install: "cargo install cargo-deny --locked --version 0.20.2 --debug",
    otherwise: "`cargo xtask test --quick` does without it",
};

/// For the tests of the Context in Redis, which are skipped without it.
pub(crate) const REDIS_SERVER: Prerequisite = Prerequisite {
    name: "redis-server",
    present: || succeeds("redis-server --version"),
    install: "apt-get install -y redis-server",
    otherwise: "the tests that need it are skipped",
};

/// For a client on the public SDK of the Model Context Protocol, which a test installs into an environment of its own.
pub(crate) const PYTHON_VENV: Prerequisite = Prerequisite {
    name: "python3 with venv",
    present: || succeeds("python3 -m ensurepip --version"),
    install: "apt-get install -y python3-venv",
    otherwise: "the tests that need it are skipped",
};

/// For the public inspector of the Model Context Protocol.
pub(crate) const NPX: Prerequisite = Prerequisite {
    name: "npx",
    present: || succeeds("npx --version"),
    install: "apt-get install -y npm",
    otherwise: "the tests that need it are skipped",
};

/// The fuzzer's driver, of any version that is there.
pub(crate) const CARGO_FUZZ: Prerequisite = Prerequisite {
    name: "cargo-fuzz",
    present: || succeeds("cargo fuzz --version"),
    install: "cargo install cargo-fuzz --locked --version 0.13.2 --debug",
    otherwise: "`cargo xtask test` puts what is kept of the fuzz targets' corpus through them without it",
};

/// One thing that may be missing.
pub(crate) struct Prerequisite {
    name: &'static str,
    present: fn() -> bool,
    /// The command, its words separated by blanks.
    install: &'static str,
    /// What to do where the installation cannot work.
    otherwise: &'static str,
}

impl Prerequisite {
    /// Says so when it is missing: it belongs to the system, and what needs it can be left out.
    pub(crate) fn mention(&self) {
        let Self {
            name,
            present,
            install,
            otherwise,
        } = self;
        if !present() {
            eprintln!("{name} is missing: {otherwise}. `{install}` gets it.");
        }
    }

    /// Installs what is missing; an error when it still is missing afterwards.
    pub(crate) fn ensure(&self) -> Result<()> {
        if (self.present)() {
            return Ok(());
        }
        eprintln!("{} is missing; installing it: {}", self.name, self.install);
        let installed = process::run(&mut command(self.install));
        if (self.present)() {
            return Ok(());
        }
        let why = match installed {
            Ok(()) => format!("`{}` succeeded, but it is still not found", self.install),
            Err(error) => format!("{error:#}"),
        };
        let Self {
            name, otherwise, ..
        } = self;
        bail!("{name} is missing and could not be installed: {why}. {otherwise}.");
    }
}

fn has_guest_std() -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", GUEST_TARGET]);
    let folder = rustc
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok());
    folder.is_some_and(|folder| Path::new(folder.trim_end()).is_dir())
}

/// Whether a program runs and is content.
pub(crate) fn succeeds(line: &str) -> bool {
    let status = command(line)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn command(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(root());
    command
}
