//! A test in a process of its own, for what is the process's and not the test's: memory.

use std::{fs, process::Command};

/// Names the test that a child is for.
const CHILD: &str = "WHARF_TESTS_ALONE";

/// Whether this process was started for this test.
pub fn is_alone(test: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|name| name == test)
}

/// Runs the test in a process of its own, and nothing in this one.
#[track_caller]
pub fn alone(test: &str, run: impl FnOnce()) {
    if is_alone(test) {
        return run();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, test)
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}{stderr}");
}

/// By how many bytes the resident memory of this process grows at most while this runs.
pub fn growth<T>(run: impl FnOnce() -> T) -> (u64, T) {
    // proc(5): the peak begins anew from what is resident now.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = resident();
    let result = run();
    (status("VmHWM:").saturating_sub(before), result)
}

/// Bytes that are resident now.
pub fn resident() -> u64 {
    status("VmRSS:")
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kib.parse::<u64>().unwrap() * 1024
}
