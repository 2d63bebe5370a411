//! What the command line prints, all of it, as recorded results in `tests/snapshots`.
//!
//! What differs from run to run or from build to build (paths, times, digests, sizes) is replaced by its kind.

use std::fs;

use wharf_tests::{
    Ran, Wharf, Workspace, built,
    demo::{self, SCENARIOS, TASK},
    script::{ready, says},
    wharf,
};

/// Compares standard output and standard error with what was recorded under this name.
fn compare(name: &str, workspace: &Workspace, ran: &Ran) {
    let there = workspace.path();
    let beside = there.parent().unwrap();
    let guests = built::plugin("fulfillment");
    let places = [
        (&*there, "[workspace]"),
        (beside, "[beside]"),
        (guests.parent().unwrap(), "[plugins]"),
    ];
    let mut shown = format!(
        "exit {}\n--- stdout\n{}--- stderr\n{}",
        ran.code.unwrap(),
        ran.stdout,
        ran.stderr
    );
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    for (place, kind) in places {
        shown = shown.replace(&*place.to_string_lossy(), kind);
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[digest]");
    settings.add_filter(r"evidence [0-9a-f]{12}\b", "evidence [digest]");
    settings.add_filter(r"time left \d+:\d\d", "time left [time]");
    settings.add_filter(r#""timeLeftMs":\d+"#, r#""timeLeftMs":"[time]""#);
    settings.add_filter(
        r"plugin calls (\d+) in \d+ ms, memory \d+ KiB, host calls (\d+), SQL (\d+) rows in \d+ ms",
        "plugin calls $1 in [time] ms, memory [size] KiB, host calls $2, SQL $3 rows in [time] ms",
    );
    settings.add_filter(r#""(micros|sqlMicros)":\d+"#, r#""$1":"[time]""#);
    settings.add_filter(r#""memoryBytes":\d+"#, r#""memoryBytes":"[size]""#);
    settings.add_filter(r#""bytes":\d+"#, r#""bytes":"[size]""#);
    settings.add_filter(r"\b\d+ bytes\n", "[size] bytes\n");
    // Which parts of WASI a guest imports, and which version, its compiler decides.
    settings.add_filter(r"\n +wasi:\S+", "");
    settings.add_filter(r#",\{"name":"wasi:[^}]+\}"#, "");
    settings.bind(|| insta::assert_snapshot!(name, shown));
}

/// In both formats.
fn compare_both(name: &str, workspace: &Workspace, command: impl Fn() -> Wharf) {
    compare(name, workspace, &command().run());
    compare(&format!("{name}-json"), workspace, &command().json().run());
}

#[test]
fn a_demo_prints_a_screenful_or_one_document() {
    for scenario in SCENARIOS {
        let name = format!("demo-{scenario}");
        let workspace = Workspace::new();
        compare(&name, &workspace, &demo::demo(&workspace, scenario).run());
        let workspace = Workspace::new();
        let ran = demo::demo(&workspace, scenario).json().run();
        compare(&format!("{name}-json"), &workspace, &ran);
    }
}

#[test]
fn a_partial_task_says_what_stopped_it() {
    let workspace = Workspace::new();
    let script = workspace.script(&[says(ready(&["pack_order", "ship_standard"]))]);
    let ran = demo::demo(&workspace, "stable").script(script).run();
    compare("demo-invalid-plan", &workspace, &ran);
    let workspace = Workspace::new();
    let limits = ["--max-actions", "2"];
    let ran = demo::demo(&workspace, "stable").args(limits).run();
    compare("demo-max-actions", &workspace, &ran);
}

#[test]
fn run_and_resume_print_what_a_demo_prints() {
    let workspace = Workspace::new();
    let request = workspace.handed_in("request.json", demo::request().to_string());
    let seed = workspace.handed_in("seed.sql", demo::seed("stable"));
    let ran = wharf("run")
        .arg("--plugin")
        .arg(built::plugin("fulfillment"))
        .arg("--request")
        .arg(request)
        .arg("--seed")
        .arg(seed)
        .dir(workspace.path())
        .run();
    compare("run", &workspace, &ran);
    compare_both("resume-finished", &workspace, || {
        wharf("resume").dir(workspace.path())
    });
}

#[test]
fn a_checkpoint_says_where_the_task_stands_and_how_to_go_on() {
    for place in ["plan", "step", "report"] {
        let workspace = Workspace::new();
        let command = || demo::demo(&workspace, "price-change").args(["--stop-after", place]);
        compare(
            &format!("stopped-after-{place}"),
            &workspace,
            &command().run(),
        );
        compare_both(&format!("status-after-{place}"), &workspace, || {
            wharf("status").dir(workspace.path())
        });
        compare_both(&format!("audit-after-{place}"), &workspace, || {
            wharf("audit").dir(workspace.path())
        });
        let ran = wharf("resume").dir(workspace.path()).run();
        compare(&format!("resumed-after-{place}"), &workspace, &ran);
    }
    let workspace = Workspace::new();
    let stop = ["--stop-after", "step"];
    let ran = demo::demo(&workspace, "price-change")
        .args(stop)
        .json()
        .run();
    compare("stopped-after-step-json", &workspace, &ran);
}

#[test]
fn status_and_audit_tell_of_finished_tasks() {
    for scenario in ["price-change", "unavailable"] {
        let workspace = Workspace::new();
        let _ = demo::demo(&workspace, scenario).run();
        compare_both(&format!("status-{scenario}"), &workspace, || {
            wharf("status").dir(workspace.path())
        });
        compare_both(&format!("audit-{scenario}"), &workspace, || {
            wharf("audit").dir(workspace.path())
        });
    }
}

#[test]
fn an_audit_tells_each_finding_with_its_place() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    fs::write(workspace.output(TASK, "shipment.json"), "{\"cost\":0}").unwrap();
    fs::remove_file(workspace.output(TASK, "report.md")).unwrap();
    compare_both("audit-findings", &workspace, || {
        wharf("audit").dir(workspace.path())
    });
}

#[test]
fn a_plugin_is_described() {
    let workspace = Workspace::new();
    compare_both("plugin-inspect", &workspace, || {
        wharf("plugin inspect").arg(built::plugin("fulfillment"))
    });
    let none = workspace.handed_in("none.wasm", "(component)");
    compare_both("plugin-inspect-none", &workspace, || {
        wharf("plugin inspect").arg(&none)
    });
}

#[test]
fn errors_are_three_lines_in_both_formats() {
    let workspace = Workspace::new();
    let commands: [(&str, &str); 7] = [
        ("usage-unknown-option", "status --drr x"),
        ("usage-no-command", ""),
        ("usage-unknown-command", "rum"),
        ("usage-missing-options", "run --dir x"),
        ("usage-bad-value", "resume --dir x --stop-after lunch"),
        ("usage-bad-task", "status --dir x --task ../x"),
        ("usage-plugin", "plugin"),
    ];
    for (name, line) in commands {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let command = wharf(words.next().unwrap_or("--format=text")).args(words);
        compare(name, &workspace, &command.run());
    }
    compare_both("error-no-task", &workspace, || {
        wharf("status").dir(workspace.path())
    });
    compare_both("error-no-script", &workspace, || {
        demo::demo(&workspace, "stable").script(workspace.path())
    });
    let script = workspace.script(&[]);
    compare_both("error-script-exhausted", &workspace, || {
        match workspace.path().exists() {
            false => demo::demo(&workspace, "stable").script(&script),
            true => wharf("resume").dir(workspace.path()).script(&script),
        }
    });
}

#[test]
fn help_says_what_can_be_given() {
    let workspace = Workspace::new();
    for command in [
        "",
        "demo",
        "run",
        "resume",
        "status",
        "audit",
        "doctor",
        "gc",
        "mcp",
        "agent",
        "approve",
        "deny",
        "plugin",
        "plugin inspect",
    ] {
        let words = format!("{command} --help");
        let name = format!("help {command}").trim().replace(' ', "-");
        compare(&name, &workspace, &wharf(words.trim()).run());
    }
}

#[test]
fn nothing_is_coloured_where_nobody_sees_it() {
    for (name, value) in [
        ("TERM", "xterm-256color"),
        ("CLICOLOR_FORCE", "1"),
        ("FORCE_COLOR", "1"),
    ] {
        let workspace = Workspace::new();
        let ran = demo::demo(&workspace, "stable").env(name, value).run();
        assert!(
            !format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}'),
            "{name}"
        );
    }
}
