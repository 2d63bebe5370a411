//! A second domain over an unchanged core: the tasks of a public benchmark, each also killed on either side of every commit.
//!
//! The data is not part of the project: `WHARF_TAU2_DATA` names its folder, else `../shared/data/tau2-retail` beside the
//! repository is taken. `cargo xtask tau2 --help` says how to get it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};
use wharf_tests::{built, root, skipped};

fn data() -> Option<PathBuf> {
    let beside = root().join("../shared/data/tau2-retail");
    let folder = std::env::var_os("WHARF_TAU2_DATA").map_or(beside, PathBuf::from);
    folder.join("gold.json").is_file().then_some(folder)
}

/// The data's folder, if there is one.
fn data_or_say_so() -> Option<PathBuf> {
    let data = data();
    if data.is_none() {
        skipped("no tau2-bench data; name its folder in WHARF_TAU2_DATA");
    }
    data
}

fn tau2(data: &Path, options: &[&str]) -> Output {
    Command::new(built::tau2())
        .args([built::plugins(), built::scratch().join("tau2")])
        .arg("--data")
        .arg(data)
        .args(options)
        .output()
        .unwrap()
}

fn said(ran: &Output) -> String {
    String::from_utf8(ran.stderr.clone()).unwrap()
}

#[test]
fn all_tasks_of_the_benchmark_lead_to_the_published_states_whatever_is_killed() {
    let Some(data) = data_or_say_so() else { return };
    let ran = tau2(&data, &["--kill", "--format", "json"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let mut found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(
        found["medianMs"]
            .take()
            .as_f64()
            .is_some_and(|median| median > 0.0)
    );
    let expected = json!({
        "tasks": 114, "statesEqual": 114, "writes": 174, "changes": 173, "reads": 358, "declined": 18, "medianMs": null,
    });
    assert_eq!(found, expected, "{}", said(&ran));
}

#[test]
fn another_end_state_than_the_published_one_is_found() {
    let Some(data) = data_or_say_so() else { return };
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(data.join(name)).unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("db.json", read("db.json"));
    let mut tasks: Value = serde_json::from_str(&read("tasks.json")).unwrap();
    tasks.as_array_mut().unwrap().truncate(2);
    write("tasks.json", tasks.to_string());
    let mut gold: Value = serde_json::from_str(&read("gold.json")).unwrap();
    gold["tasks"].as_array_mut().unwrap().truncate(2);
    gold["tasks"][1]["tau2_hash"] = gold["initial_tau2_hash"].clone();
    write("gold.json", gold.to_string());

    let ran = tau2(folder.path(), &["--format", "json"]);
    assert_eq!(ran.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!([&found["tasks"], &found["statesEqual"]], [2, 1]);
    assert!(
        said(&ran).starts_with("task 1: the end state is "),
        "{}",
        said(&ran)
    );
}

#[test]
fn without_the_data_the_command_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let ran = tau2(folder.path(), &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.stdout.is_empty());
    assert!(said(&ran).contains("git clone https://github.com/sierra-research/tau2-bench"));
}
