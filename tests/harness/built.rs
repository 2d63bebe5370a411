//! Where the built programs are. `cargo xtask test` builds them first; under a plain `cargo test`, what is missing or older than
//! its sources is built here, through cargo.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
    time::SystemTime,
};

use super::root;

/// The program `wharf`, of the profile that the tests themselves have.
pub fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| built("wharf", "host"));
    &PROGRAM
}

/// An example, by its name.
pub fn example(name: &str) -> PathBuf {
    built(name, "examples")
}

/// The program behind `cargo xtask tau2`.
pub fn tau2() -> PathBuf {
    built("wharf-tau2", "tau2")
}

/// A program, not older than its sources.
fn built(program: &str, sources: &str) -> PathBuf {
    let program = profile_folder().join(program);
    if modified(&program) < newest(&root().join(sources)) {
        // All members, so that cargo picks the same features of the dependencies and compiles them once.
        cargo(&[
            "build",
            "--workspace",
            "--bins",
            "--profile",
            &profile(),
            "--target-dir",
            &target_folder().to_string_lossy(),
        ]);
    }
    assert!(program.is_file(), "{} is missing", program.display());
    program
}

/// The component of a plugin, such as `fulfillment`.
pub fn plugin(name: &str) -> PathBuf {
    plugins().join(format!("{name}.wasm"))
}

/// The folder of the plugins' components.
pub fn plugins() -> PathBuf {
    guests().join("plugins")
}

/// The component of a guest that misbehaves on request, such as `probe`.
pub fn test_guest(name: &str) -> PathBuf {
    guests().join("test-guests").join(format!("{name}.wasm"))
}

/// The component of a guest that attacks the host, such as `honest`.
pub fn hostile_guest(name: &str) -> PathBuf {
    let component = test_guest(&format!("hostile/{name}"));
    static BUILT: LazyLock<()> = LazyLock::new(|| {
        cargo(&["run", "--package", "xtask", "--", "guests"]);
    });
    if !component.is_file() {
        LazyLock::force(&BUILT);
    }
    component
}

/// Where files of the tests may stay: the target directory's own place for that.
pub fn scratch() -> PathBuf {
    target_folder().join("tmp")
}

/// The folder with `plugins` and `test-guests`: beside the program, where `wharf demo` looks, else the repository's.
fn guests() -> &'static Path {
    static GUESTS: LazyLock<PathBuf> = LazyLock::new(|| {
        let places = [target_folder(), root().join("target")];
        let complete = |place: &&PathBuf| {
            ["plugins", "test-guests"]
                .iter()
                .all(|folder| place.join(folder).is_dir())
        };
        if let Some(place) = places.iter().find(complete) {
            return place.clone();
        }
        cargo(&["run", "--package", "xtask", "--", "guests"]);
        places
            .iter()
            .find(complete)
            .expect("`xtask guests` leaves them in `target`")
            .clone()
    });
    &GUESTS
}

/// `PROFILE` in `TARGET/PROFILE/deps/TEST`.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}

fn target_folder() -> PathBuf {
    profile_folder().parent().unwrap().to_owned()
}

fn profile() -> String {
    match profile_folder().file_name().unwrap().to_str().unwrap() {
        "debug" => "dev".to_owned(),
        profile => profile.to_owned(),
    }
}

fn cargo(arguments: &[&str]) {
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .status()
        .unwrap();
    assert!(status.success(), "cargo {arguments:?}: {status}");
}

fn newest(folder: &Path) -> Option<SystemTime> {
    fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                newest(&path)
            } else {
                modified(&path)
            }
        })
        .max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
