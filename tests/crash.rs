//! SIGKILL of the real program at its durable boundaries: nothing is lost, nothing happens twice, and the report does not show it.

use std::{panic::AssertUnwindSafe, process::Stdio, sync::Arc};

use serde_json::Value;
use wharf::{Planner, RunOptions, technologies::journal::SqliteJournal};
use wharf_tests::{
    Workspace,
    crash_matrix::{comparable, unmarked},
    demo::{self, TASK},
    gated::{Boundary, Gated, Side},
    library,
    patience::{self, PATIENCE},
    script, wharf,
};

/// The scenarios that are completed, and what makes their first plan another.
const EVENTFUL: [(&str, Option<&str>); 3] = [
    ("stable", None),
    ("price-change", Some("environment-changed")),
    ("lost-response", Some("outcome-unknown")),
];

/// A task whose first plan is accepted, and what becomes of it if nobody interferes.
struct Uninterrupted {
    planned: Workspace,
    boundaries: Vec<Boundary>,
    report: Value,
    effects: Vec<String>,
}

impl Uninterrupted {
    fn run(scenario: &str) -> Self {
        let planned = Workspace::new();
        let _ = demo::demo(&planned, scenario)
            .args(["--stop-after", "plan"])
            .run()
            .exits(12);
        Self::from(planned)
    }

    /// From a workspace that nobody is writing to.
    fn from(planned: Workspace) -> Self {
        let workspace = planned.copy();
        let mut gated = Gated::start(wharf("resume").dir(workspace.path()).json(), &workspace);
        let mut boundaries = vec![gated.boundary()];
        let ended = loop {
            match gated.go_on() {
                None => boundaries.push(gated.boundary()),
                Some(end) => break end,
            }
        };
        assert_eq!(ended.code, Some(0));
        let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
        Self {
            planned,
            boundaries,
            report: answer["report"].clone(),
            effects: workspace.effects(),
        }
    }

    /// The boundaries on one side of an append at which a stage is in flight.
    fn at(&self, side: Side, stage: &str) -> Vec<usize> {
        let fits = |at: &Boundary| at.side == side && at.stage.as_deref() == Some(stage);
        let found = self.boundaries.iter().enumerate();
        found
            .filter(|(_, at)| fits(at))
            .map(|(index, _)| index)
            .collect()
    }

    /// A workspace whose run was killed at a boundary.
    fn killed_at(&self, index: usize) -> Workspace {
        let workspace = self.planned.copy();
        let mut gated = Gated::start(wharf("resume").dir(workspace.path()), &workspace);
        for _ in 0..index {
            assert_eq!(gated.go_on(), None);
        }
        assert_eq!(gated.boundary(), self.boundaries[index]);
        gated.kill();
        workspace
    }

    /// A resumed task ends as if nothing had happened. `adopted` names the operation whose row the kill left unrecorded, `lost`
    /// how many reserved calls it cost.
    fn assert_resumes(&self, workspace: &Workspace, adopted: Option<&str>, lost: Lost) {
        let answer = wharf("resume")
            .dir(workspace.path())
            .json()
            .run()
            .exits(0)
            .document();
        let report = &answer["report"];
        let mut expected = self.report.clone();
        for step in expected["completed"].as_array_mut().unwrap() {
            if step["operationKey"].as_str() == adopted {
                step["replayed"] = true.into();
            }
        }
        assert_eq!(comparable(report), comparable(&expected));
        for (counter, lost) in [("modelCalls", lost.plans), ("actionCalls", lost.actions)] {
            let used = |report: &Value| report["usage"][counter].as_u64().unwrap();
            assert_eq!(
                used(report),
                used(&self.report) + lost,
                "{counter}: {report}"
            );
        }
        assert_eq!(report["usage"]["startedAt"], self.planned_at());
        assert_eq!(*report, workspace.report(TASK));
        assert_eq!(workspace.effects(), self.effects);
        let last = workspace.journal(TASK).len();
        let anchors = workspace.select("SELECT sequence FROM wharf_anchors");
        assert_eq!(anchors, [last.to_string()]);
        let audit = wharf("audit")
            .dir(workspace.path())
            .json()
            .run()
            .exits(0)
            .document();
        assert_eq!(
            audit["tasks"][0]["skipped"],
            Value::Array(vec![]),
            "{audit}"
        );
    }

    fn planned_at(&self) -> Value {
        self.planned.journal(TASK)[0].at.clone().into()
    }
}

/// Reserved calls that a kill may cost.
struct Lost {
    plans: u64,
    actions: u64,
}

impl Lost {
    const NOTHING: Self = Self {
        plans: 0,
        actions: 0,
    };
    const A_PLAN: Self = Self {
        plans: 1,
        actions: 0,
    };
    const AN_ACTION: Self = Self {
        plans: 0,
        actions: 1,
    };
}

/// Crash after an effect, X1: committed, and not journaled.
#[test]
fn a_kill_between_business_commit_and_journal_neither_loses_nor_repeats_a_step() {
    for (scenario, change) in EVENTFUL {
        let uninterrupted = Uninterrupted::run(scenario);
        assert_eq!(uninterrupted.report["changes"][0]["code"].as_str(), change);
        let kills = uninterrupted.at(Side::BeforeAppend, "step");
        let steps = uninterrupted.report["usage"]["actionCalls"]
            .as_u64()
            .unwrap();
        assert_eq!(kills.len() as u64, steps, "{scenario}");
        for index in kills {
            let workspace = uninterrupted.killed_at(index);
            let in_flight = uninterrupted.boundaries[index].record;
            let ledger = workspace.ledger();
            // The one step without a row is the one whose environment had changed.
            let row = ledger.iter().find(|row| row.sequence == in_flight);
            let lost = if row.is_some() {
                Lost::NOTHING
            } else {
                Lost::AN_ACTION
            };
            uninterrupted.assert_resumes(&workspace, row.map(|row| &*row.operation_key), lost);
        }
    }
}

/// Crash after the first plan, B1: before the first effect, and before each that follows.
#[test]
fn a_kill_between_intent_and_business_commit_costs_one_reserved_action() {
    let uninterrupted = Uninterrupted::run("price-change");
    let kills = uninterrupted.at(Side::AfterAppend, "step");
    assert_eq!(kills.len(), 5);
    for index in kills {
        let workspace = uninterrupted.killed_at(index);
        let in_flight = uninterrupted.boundaries[index].record;
        assert!(
            workspace
                .ledger()
                .iter()
                .all(|row| row.sequence < in_flight)
        );
        uninterrupted.assert_resumes(&workspace, None, Lost::AN_ACTION);
    }
}

/// B1: the counter is higher by the reserved call, never lower.
#[test]
fn a_kill_that_loses_an_answer_of_the_planner_costs_one_reserved_attempt() {
    let uninterrupted = Uninterrupted::run("price-change");
    for side in [Side::AfterAppend, Side::BeforeAppend] {
        let kills = uninterrupted.at(side, "plan");
        assert_eq!(kills.len(), 1);
        let workspace = uninterrupted.killed_at(kills[0]);
        uninterrupted.assert_resumes(&workspace, None, Lost::A_PLAN);
    }
}

#[test]
fn a_kill_in_the_first_plan_loses_nothing_but_the_attempt() {
    let failed = Workspace::new();
    let script = failed.script(&[script::fails("overloaded", true)]);
    let _ = demo::demo(&failed, "stable").script(script).run().exits(1);
    let uninterrupted = Uninterrupted::from(failed);
    for side in [Side::AfterAppend, Side::BeforeAppend] {
        let workspace = uninterrupted.killed_at(uninterrupted.at(side, "plan")[0]);
        assert_eq!(workspace.ledger(), []);
        uninterrupted.assert_resumes(&workspace, None, Lost::A_PLAN);
    }
}

/// Crash after the report, B1: around the publication, and before the last record's anchor.
#[test]
fn a_kill_where_no_call_is_in_flight_costs_nothing() {
    let uninterrupted = Uninterrupted::run("price-change");
    let quiet = |at: &&Boundary| at.stage.as_deref().is_none_or(|stage| stage == "publish");
    // Before the first record of the run; around the publication; before the anchor of the last record.
    assert_eq!(uninterrupted.boundaries.iter().filter(quiet).count(), 4);
    for (index, at) in uninterrupted.boundaries.iter().enumerate() {
        if quiet(&at) {
            let workspace = uninterrupted.killed_at(index);
            uninterrupted.assert_resumes(&workspace, None, Lost::NOTHING);
        }
    }
}

/// Publication cut short: between any two files.
#[test]
fn a_publication_that_was_cut_short_anywhere_is_completed() {
    let uninterrupted = Uninterrupted::run("price-change");
    let published = uninterrupted.killed_at(uninterrupted.at(Side::BeforeAppend, "publish")[0]);
    let names = ["shipment.json", "report.md", "report.json"];
    for whole in 0..names.len() {
        let workspace = published.copy();
        for name in &names[whole..] {
            std::fs::remove_file(workspace.output(TASK, name)).unwrap();
        }
        std::fs::write(workspace.output(TASK, ".wharf-1.tmp"), "{").unwrap();
        uninterrupted.assert_resumes(&workspace, None, Lost::NOTHING);
        assert!(!workspace.output(TASK, ".wharf-1.tmp").exists());
    }
}

#[test]
fn a_kill_of_the_recovery_itself_is_recovered_from() {
    let uninterrupted = Uninterrupted::run("price-change");
    let packing = uninterrupted.at(Side::BeforeAppend, "step")[1];
    let killed = uninterrupted.killed_at(packing);
    for (boundaries, lost) in [(0, Lost::NOTHING), (1, Lost::AN_ACTION)] {
        let workspace = killed.copy();
        let mut recovery = Gated::start(wharf("resume").dir(workspace.path()), &workspace);
        for _ in 0..boundaries {
            assert_eq!(recovery.go_on(), None);
        }
        recovery.kill();
        uninterrupted.assert_resumes(&workspace, Some("pack_order"), lost);
    }
}

#[test]
fn a_preparation_that_was_killed_anywhere_is_begun_again_by_the_same_command() {
    for sign in [
        "business.sqlite",
        "plugins",
        "tasks/demo",
        "tasks/demo/policy.json",
    ] {
        let workspace = Workspace::new();
        std::fs::create_dir(workspace.path()).unwrap();
        // A journal without records, held so that no record is appended.
        let path = workspace.path().join("memory.sqlite");
        drop(
            SqliteJournal::open(&path, PATIENCE, "2026-01-01T00:00:00Z".parse().unwrap()).unwrap(),
        );
        let journal = workspace.open_for_tampering("memory.sqlite");
        journal.execute_batch("BEGIN IMMEDIATE").unwrap();
        let command = || demo::demo(&workspace, "price-change").json();
        let mut child = command()
            .into_command()
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        patience::until(sign, || workspace.path().join(sign).exists());
        child.kill().unwrap();
        child.wait().unwrap();
        journal.execute_batch("ROLLBACK").unwrap();
        drop(journal);
        wharf("resume")
            .dir(workspace.path())
            .run()
            .refusal(2, "no-task");
        let answer = command().run().exits(0).document();
        assert_eq!(answer["report"]["usage"]["modelCalls"], 2);
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    }
}

/// In process, and at every single record: whoever listens to the progress brings the run down before the record is appended.
#[test]
fn a_run_that_is_dropped_at_any_record_goes_on_as_if_nothing_had_happened() {
    for scenario in demo::SCENARIOS {
        let whole = Workspace::new();
        let expected = library::finish(
            &library::host(whole.path()),
            Planner::Search,
            demo::task(scenario),
        );
        let expected: Value = serde_json::from_str(&expected.report).unwrap();
        for last in 1..=whole.journal(TASK).len() as u64 {
            let workspace = Workspace::new();
            let mut options = RunOptions::default();
            options.progress = Some(Arc::new(move |progress| {
                if progress.sequence == last {
                    std::panic::resume_unwind(Box::new("dropped"));
                }
            }));
            let host = library::host(workspace.path());
            let run = || library::run(&host, Planner::Search, demo::task(scenario), options);
            assert!(std::panic::catch_unwind(AssertUnwindSafe(run)).is_err());
            drop(host);
            assert!(workspace.journal(TASK).len() < usize::try_from(last).unwrap());
            let host = library::host(workspace.path());
            let report = library::finish(&host, Planner::Search, demo::task(scenario)).report;
            let report: Value = serde_json::from_str(&report).unwrap();
            assert_eq!(
                unmarked(&report),
                unmarked(&expected),
                "{scenario}, record {last}"
            );
            for counter in ["modelCalls", "actionCalls"] {
                let used = |report: &Value| report["usage"][counter].as_u64().unwrap();
                let more = used(&report).checked_sub(used(&expected));
                assert!(matches!(more, Some(0 | 1)), "{counter}: {report}");
            }
            assert_eq!(
                workspace.effects(),
                whole.effects(),
                "{scenario}, record {last}"
            );
        }
    }
}
