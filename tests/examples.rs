//! The examples run as their heads say.

use std::process::Command;

use wharf_tests::built;

/// Standard output of an example, called with the reference domain and a directory that does not exist yet.
fn example(name: &str) -> String {
    let program = built::program().with_file_name(name);
    assert!(
        program.is_file(),
        "build the examples first: `cargo build --workspace --bins`"
    );
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(program)
        .arg(built::plugin("fulfillment"))
        .arg(folder.path().join("workspace"))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stderr, "");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn embed_runs_an_order_and_prints_its_report() {
    let output = example("embed");
    let (progress, report) = output.rsplit_once("Completed: ").unwrap();
    assert!(progress.contains("admitted"), "{progress}");
    assert!(progress.contains("publish"), "{progress}");
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["result"]["carrier"], "standard");
}

#[test]
fn resume_goes_on_after_a_cancellation() {
    assert_eq!(
        example("resume"),
        "first run: Cancelled\nsecond run: Completed\nclean: true\n"
    );
}
