//! Fails the build if a hostile guest has no test, a test of one has no guest, or a guest is not built.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn main() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = tests.join("hostile");
    println!("cargo::rerun-if-changed=hostile/guests");
    println!("cargo::rerun-if-changed=hostile/Cargo.toml");

    let guests = guests(&package.join("guests"));
    let tested = tested(tests);
    let listed = listed(&package.join("Cargo.toml"));
    let compiled: BTreeSet<_> = guests
        .iter()
        .filter_map(|file| file.strip_suffix(".rs"))
        .map(str::to_owned)
        .collect();
    let attacks: BTreeSet<_> = guests
        .iter()
        .filter_map(|file| file.split_once('.'))
        .map(|(name, _)| name.to_owned())
        .filter(|name| name != "honest")
        .collect();

    let mut faults = Vec::new();
    for name in attacks.difference(&tested) {
        faults.push(format!(
            "the guest `{name}` has no test: write `#[test] fn {name}()` in a file tests/hostile_*.rs"
        ));
    }
    for name in tested.difference(&attacks) {
        faults.push(format!(
            "the test `{name}` has no guest: write tests/hostile/guests/{name}.rs, or move the test out of tests/hostile_*.rs"
        ));
    }
    for name in compiled.difference(&listed) {
        faults.push(format!(
            "the guest `{name}` is not built: give it an `[[example]]` in tests/hostile/Cargo.toml"
        ));
    }
    for name in listed.difference(&compiled) {
        faults.push(format!(
            "tests/hostile/Cargo.toml lists `{name}`, which tests/hostile/guests does not have"
        ));
    }
    assert!(faults.is_empty(), "\n\n{}\n", faults.join("\n"));
}

/// The files of the guests.
fn guests(folder: &Path) -> BTreeSet<String> {
    files(folder)
        .into_iter()
        .map(|path| {
            let name = path.file_name().expect("a file has a name");
            name.to_string_lossy().into_owned()
        })
        .collect()
}

/// The functions below `#[test]` in the files that test guests and nothing else.
fn tested(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(folder) {
        let name = path
            .file_name()
            .expect("a file has a name")
            .to_string_lossy();
        if !name.starts_with("hostile_") || !name.ends_with(".rs") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("a test is text");
        let mut lines = text.lines().map(str::trim);
        while lines.any(|line| line == "#[test]") {
            let function = lines
                .next()
                .and_then(|line| line.strip_prefix("fn ")?.split_once('('))
                .unwrap_or_else(|| {
                    panic!("{}: `#[test]` is followed by its function", path.display())
                });
            let twice = !found.insert(function.0.to_owned());
            assert!(!twice, "two tests have the name `{}`", function.0);
        }
    }
    // A file that is added changes the folder.
    println!(
        "cargo::rerun-if-changed={}",
        folder.join("main.rs").display()
    );
    found
}

/// The guests that cargo compiles.
fn listed(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).expect("the package of the guests has a manifest");
    text.lines()
        .filter_map(|line| line.strip_prefix("path = \"guests/")?.strip_suffix(".rs\""))
        .map(str::to_owned)
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.is_file())
        .collect()
}
