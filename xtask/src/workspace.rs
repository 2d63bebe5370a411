//! The cargo workspaces of the repository, and how each is compiled.

use std::iter;
use std::path::Path;
use std::process::Command;

use crate::prerequisites::GUEST_TARGET;

/// The profile of the host and of all components, and the name of its folder in a target directory.
///
/// One profile for the demo, the lints and the tests: the compiler crates behind wasmtime take
/// minutes, and each further profile would take them again.
pub(crate) const PROFILE: &str = "release";

/// The host, the tests, the examples and this tool.
pub(crate) const ROOT: Workspace = Workspace {
    name: "root",
    manifest: "Cargo.toml",
    target_dir: "target",
    native_profile: PROFILE,
    components: &[],
};

/// The plugins.
pub(crate) const PLUGINS: Workspace = Workspace {
    name: "plugins",
    manifest: "plugins/Cargo.toml",
    target_dir: GUESTS_TARGET_DIR,
    native_profile: "dev",
    components: &[],
};

/// The guest that misbehaves on request.
pub(crate) const TEST_GUESTS: Workspace = Workspace {
    name: "test guests",
    manifest: "tests/guests/Cargo.toml",
    target_dir: GUESTS_TARGET_DIR,
    native_profile: "dev",
    components: &[],
};

/// The guests that attack the host, each an example of one package.
pub(crate) const HOSTILE: Workspace = Workspace {
    name: "hostile guests",
    manifest: "tests/hostile/Cargo.toml",
    target_dir: GUESTS_TARGET_DIR,
    native_profile: "dev",
    components: &["--examples"],
};

const FUZZ: Workspace = Workspace {
    name: "fuzz",
    manifest: "fuzz/Cargo.toml",
    target_dir: "target/fuzz",
    native_profile: PROFILE,
    components: &[],
};

/// All workspaces, the root first.
pub(crate) fn all() -> impl Iterator<Item = &'static Workspace> {
    iter::once(&ROOT).chain(guests()).chain(iter::once(&FUZZ))
}

/// The workspaces that are built as components.
pub(crate) fn guests() -> impl Iterator<Item = &'static Workspace> {
    iter::once(&PLUGINS).chain(test_guests())
}

/// The guests that only tests load, which need not be there.
pub(crate) fn test_guests() -> impl Iterator<Item = &'static Workspace> {
    [&TEST_GUESTS, &HOSTILE]
        .into_iter()
        .filter(|workspace| root().join(workspace.manifest).is_file())
}

/// Shared by all guest workspaces, so that their common dependencies compile once.
const GUESTS_TARGET_DIR: &str = "target/guests";

/// One `Cargo.toml` with members of its own. All paths are relative to the repository.
pub(crate) struct Workspace {
    /// As stages and messages call it.
    pub(crate) name: &'static str,
    manifest: &'static str,
    /// Named in each command, since a `CARGO_TARGET_DIR` of the caller would move the results from
    /// where the documentation says they are.
    pub(crate) target_dir: &'static str,
    /// What code that runs on this machine is compiled with. Guests are small, so their tests take
    /// `dev`, which checks arithmetic for overflow and is not optimised for size as components are.
    native_profile: &'static str,
    /// What cargo is told so that it compiles what becomes a component, where that is not all members' libraries.
    components: &'static [&'static str],
}

impl Workspace {
    /// `cargo SUBCOMMAND` on this workspace, from the repository's root.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root());
        cargo.args([subcommand, "--manifest-path", self.manifest]);
        cargo
    }

    /// A subcommand that compiles all members for this machine.
    pub(crate) fn native(&self, subcommand: &str) -> Command {
        self.compile(subcommand, self.native_profile)
    }

    /// A subcommand that compiles all members to components.
    pub(crate) fn components(&self, subcommand: &str) -> Command {
        let mut cargo = self.compile(subcommand, PROFILE);
        cargo.args(["--target", GUEST_TARGET]);
        cargo.args(self.components);
        cargo
    }

    fn compile(&self, subcommand: &str, profile: &str) -> Command {
        let mut cargo = self.cargo(subcommand);
        cargo.args(["--workspace", "--profile", profile]);
        cargo.args(["--target-dir", self.target_dir]);
        cargo
    }
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the repository")
}
