//! A finished task is a snapshot: whoever asks again gets the same bytes, and nobody is called.

use std::fs;

use wharf::{Host, HostBuilder, Task};
use wharf_tests::{
    Workspace, changes,
    demo::{self, SCENARIOS, TASK},
    library::{self, Scripted},
    wharf,
};

/// A host without a compile cache, so that whatever it loads it must compile.
fn bare_host(workspace: &Workspace) -> Host {
    HostBuilder::new(workspace.path()).build().unwrap()
}

/// X4: no plugin call, no model call, the same bytes.
#[test]
fn a_finished_task_answers_with_its_report_and_calls_nobody() {
    for scenario in SCENARIOS {
        let workspace = Workspace::new();
        let host = library::host(workspace.path());
        let first = library::finish(&host, wharf::Planner::Search, demo::task(scenario));
        drop(host);
        let before = workspace.content();
        for task in [Task::Saved(TASK.parse().unwrap()), demo::task(scenario)] {
            let host = bare_host(&workspace);
            let nobody = Scripted::saying([""; 0]);
            let again = library::finish(&host, nobody.planner(), task);
            assert_eq!(again.report, first.report, "{scenario}");
            assert_eq!(again.report_markdown, first.report_markdown);
            assert_eq!(again.status, first.status);
            assert_eq!(host.compiles(), 0, "a plugin was loaded");
            assert!(nobody.asked().is_empty());
        }
        assert_eq!(changes(&before, &workspace.content()), [""; 0]);
    }
}

#[test]
fn resume_prints_the_report_of_a_finished_task_again() {
    for scenario in SCENARIOS {
        let workspace = Workspace::new();
        let exit = demo::exit_code(scenario);
        let first = demo::demo(&workspace, scenario).json().run().exits(exit);
        let before = workspace.content();
        // A script without answers fails whoever asks it.
        let again = wharf("resume")
            .dir(workspace.path())
            .script(workspace.script(&[]))
            .json()
            .run()
            .exits(exit);
        assert_eq!(first.stdout, again.stdout, "{scenario}");
        assert_eq!(changes(&before, &workspace.content()), [""; 0]);
    }
}

#[test]
fn outputs_that_were_lost_are_written_again_byte_for_byte() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    let before = workspace.content();
    for name in ["report.json", "report.md", "shipment.json"] {
        fs::remove_file(workspace.output(TASK, name)).unwrap();
    }
    let host = bare_host(&workspace);
    let task = Task::Saved(TASK.parse().unwrap());
    library::finish(&host, Scripted::saying([""; 0]).planner(), task);
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
    assert_eq!(host.compiles(), 0);
}
