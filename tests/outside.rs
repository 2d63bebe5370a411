//! The crate as others get it: packaged, unpacked, and used by a program outside the repository through its public names.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use wharf_tests::{built, root};

/// The target directory, so that what is compiled already is used.
fn target() -> PathBuf {
    built::scratch().parent().unwrap().to_owned()
}

/// The profile of the tests themselves.
fn profile() -> String {
    match built::program().parent().unwrap().file_name().unwrap() {
        folder if folder == "debug" => "dev".to_owned(),
        folder => folder.to_str().unwrap().to_owned(),
    }
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{stderr}");
    output
}

fn cargo(subcommand: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([subcommand, "--offline", "--target-dir"])
        .arg(target());
    cargo
}

/// `wharf-VERSION.crate`.
fn package() -> PathBuf {
    let mut package = cargo("package");
    package.current_dir(root()).args([
        "--package",
        "wharf",
        "--allow-dirty",
        "--no-verify",
        "--exclude-lockfile",
    ]);
    succeed(&mut package);
    target()
        .join("package")
        .join(format!("wharf-{}.crate", env!("CARGO_PKG_VERSION")))
}

/// Leaves a file alone that has these bytes already, so that cargo does not compile it again.
fn place(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Unpacks anew where the package is another than last time. The archive's times are all the same, so they are not taken over.
fn unpack(package: &Path, folder: &Path) {
    let last = folder.with_extension("crate");
    let bytes = fs::read(package).unwrap();
    if fs::read(&last).is_ok_and(|found| found == bytes) {
        return;
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    succeed(
        Command::new("tar")
            .args(["-x", "-z", "-m", "--strip-components", "1", "-f"])
            .arg(package)
            .arg("-C")
            .arg(folder),
    );
    fs::write(last, bytes).unwrap();
}

/// The names of a folder's files.
fn names(folder: &Path) -> BTreeSet<OsString> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect()
}

/// Every dependency with version and features, as cargo chooses them.
fn features(manifest: &Path, options: &[&str]) -> BTreeSet<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args([
        "tree",
        "--offline",
        "--no-dedupe",
        "--prefix",
        "none",
        "--format",
        "{p} {f}",
    ])
    .args(["--edges", "normal,build,dev", "--manifest-path"])
    .arg(manifest)
    .args(options);
    let lines = String::from_utf8(succeed(&mut tree).stdout).unwrap();
    lines
        .lines()
        // Those in a folder are no dependencies but what is built.
        .filter(|line| !line.is_empty() && !line.contains(" (/"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_program_outside_the_repository_runs_an_order_with_nothing_but_the_package() {
    let program = built::scratch().join("outside");
    let wharf = program.join("wharf");
    unpack(&package(), &wharf);
    for folder in ["wit/0.1.0", "migrations/business", "migrations/memory"] {
        let packaged = names(&wharf.join(folder));
        assert_eq!(packaged, names(&root().join("host").join(folder)));
    }
    for file in ["Cargo.toml", "src/main.rs"] {
        let bytes = fs::read(root().join("tests/outside").join(file)).unwrap();
        place(&program.join(file), &bytes);
    }
    // Equal versions, without asking a registry; what this program does not need, cargo takes out.
    fs::copy(root().join("Cargo.lock"), program.join("Cargo.lock")).unwrap();
    let manifest = program.join("Cargo.toml");
    let here = features(&root().join("Cargo.toml"), &["--workspace"]);
    let other: Vec<_> = features(&manifest, &[])
        .into_iter()
        .filter(|line| !here.contains(line))
        .collect();
    assert!(
        other.is_empty(),
        "each run would compile these and all above them once more; let tests/outside/Cargo.toml ask for what the workspace \
         has: {other:?}"
    );

    let mut build = cargo("build");
    build
        .args(["--profile", &profile(), "--manifest-path"])
        .arg(manifest);
    succeed(&mut build);
    let workspace = tempfile::tempdir().unwrap();
    let output = succeed(
        Command::new(built::program().with_file_name("outside"))
            .arg(built::plugin("fulfillment"))
            .arg(workspace.path().join("workspace")),
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["result"]["orderId"], "ORDER-1");
}
