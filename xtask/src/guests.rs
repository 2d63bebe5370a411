//! `cargo xtask guests`: builds every guest once, for whoever needs components.
//!
//! A guest is a member of `plugins/Cargo.toml` or `tests/guests/Cargo.toml` with a `cdylib`, known by
//! the name of its folder, or an example of `tests/hostile/Cargo.toml`, known by its own. What other programs load is a copy, replaced only by different
//! bytes, so that a digest or a modification time that changed means a guest that changed:
//!
//! | from | to |
//! |---|---|
//! | the component of `plugins/NAME` | `target/plugins/NAME.wasm` |
//! | `plugins/NAME/demo/` | `target/plugins/NAME.demo/` |
//! | the component of `tests/guests/NAME` | `target/test-guests/NAME.wasm` |
//! | the component of `tests/hostile/guests/NAME.rs` | `target/test-guests/hostile/NAME.wasm` |

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::prerequisites::GUEST_STD;
use crate::process;
use crate::sync::{self, Change};
use crate::workspace::{self, HOSTILE, PLUGINS, Workspace, root};

/// Builds and lists all guests.
pub(crate) fn run() -> Result<ExitCode> {
    GUEST_STD.ensure()?;
    for guest in build()? {
        let path = guest
            .component
            .strip_prefix(root())
            .unwrap_or(&guest.component);
        println!("{} ({})", path.display(), guest.change);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds and installs all guests, those of the tests included.
pub(crate) fn build() -> Result<Vec<Guest>> {
    let mut guests = build_plugins()?;
    for workspace in workspace::test_guests() {
        let destination = if workspace.name == HOSTILE.name {
            "target/test-guests/hostile"
        } else {
            "target/test-guests"
        };
        guests.extend(build_workspace(workspace, destination)?);
    }
    Ok(guests)
}

/// Builds and installs the plugins.
pub(crate) fn build_plugins() -> Result<Vec<Guest>> {
    build_workspace(&PLUGINS, "target/plugins")
}

/// An installed guest.
pub(crate) struct Guest {
    /// Where programs load it from; absolute.
    pub(crate) component: PathBuf,
    change: Change,
}

fn build_workspace(workspace: &Workspace, destination: &str) -> Result<Vec<Guest>> {
    let mut cargo = workspace.components("build");
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let messages = output(&mut cargo)?;
    let destination = root().join(destination);
    messages
        .lines()
        .filter_map(Built::parse)
        .map(|built| built.install(&destination))
        .collect()
}

/// What a command prints, its diagnostics to our own.
fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| process::not_started(command))?;
    process::check(command, output.status)?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed no UTF-8", process::line(command)))
}

/// A component as cargo reports it.
#[derive(Debug, PartialEq)]
struct Built {
    folder: PathBuf,
    /// Of an example: its own; of anything else, the folder has it.
    name: Option<String>,
    component: PathBuf,
}

impl Built {
    /// Reads one line of cargo's JSON messages; none for anything but a member's own component.
    fn parse(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_cdylib = message["target"]["crate_types"]
            .as_array()?
            .iter()
            .any(|kind| kind == "cdylib");
        let manifest = Path::new(message["manifest_path"].as_str()?);
        if !is_cdylib || !manifest.starts_with(root()) {
            return None;
        }
        let files = message["filenames"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str);
        let component = files
            .map(PathBuf::from)
            .find(|file| file.extension().is_some_and(|end| end == "wasm"))?;
        let target = &message["target"];
        let is_example = target["kind"]
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "example"));
        Some(Self {
            folder: manifest.parent()?.to_path_buf(),
            name: is_example
                .then(|| target["name"].as_str().map(str::to_owned))
                .flatten(),
            component,
        })
    }

    fn install(self, destination: &Path) -> Result<Guest> {
        let folder = self.folder.file_name().and_then(|name| name.to_str());
        let Some(name) = self.name.as_deref().or(folder) else {
            bail!(
                "{} is no name for a guest; rename the folder",
                self.folder.display()
            );
        };
        let component = destination.join(format!("{name}.wasm"));
        let change = sync::file(&self.component, &component)?;
        let demo = self.folder.join("demo");
        if demo.is_dir() {
            sync::folder(&demo, &destination.join(format!("{name}.demo")))?;
        }
        Ok(Guest { component, change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn artifact(manifest: &Path, crate_type: &str) -> String {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": manifest,
            "target": { "crate_types": [crate_type] },
            "filenames": ["/t/some_guest.d", "/t/some_guest.wasm"],
        })
        .to_string()
    }

    #[test]
    fn a_member_with_a_cdylib_is_a_guest_named_after_its_folder() {
        let folder = root().join("plugins/some-guest");
        let built = Built::parse(&artifact(&folder.join("Cargo.toml"), "cdylib"));
        assert_eq!(
            built,
            Some(Built {
                folder,
                name: None,
                component: PathBuf::from("/t/some_guest.wasm")
            })
        );
    }

    #[test]
    fn an_example_is_a_guest_of_its_own_name() {
        let folder = root().join("tests/hostile");
        let mut message: Value =
            serde_json::from_str(&artifact(&folder.join("Cargo.toml"), "cdylib")).unwrap();
        message["target"]["kind"] = json!(["example"]);
        message["target"]["name"] = "spins".into();
        let built = Built::parse(&message.to_string()).unwrap();
        assert_eq!(built.name.as_deref(), Some("spins"));
    }

    #[test]
    fn libraries_foreign_packages_and_other_messages_are_no_guests() {
        let ours = root().join("plugins/sdk/Cargo.toml");
        assert_eq!(Built::parse(&artifact(&ours, "lib")), None);
        assert_eq!(
            Built::parse(&artifact(Path::new("/elsewhere/dep/Cargo.toml"), "cdylib")),
            None
        );
        assert_eq!(
            Built::parse(r#"{"reason":"build-finished","success":true}"#),
            None
        );
        assert_eq!(Built::parse("not JSON"), None);
    }
}
