//! The event stream over several runs of one task.

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use wharf::{Checkpoint, Outcome, Planner, Progress, ProgressBody, RunOptions, Task};
use wharf_tests::{
    Workspace,
    demo::{self, TASK},
    library,
};

/// Runs the task until it stops, keeping what it tells; the run is brought down at the record `dropped`.
fn run(
    workspace: &Workspace,
    stop_after: Option<Checkpoint>,
    dropped: Option<u64>,
    heard: &Arc<Mutex<Vec<Progress>>>,
) -> Option<Outcome> {
    let mut options = RunOptions::default();
    options.stop_after = stop_after;
    let keep = Arc::clone(heard);
    options.progress = Some(Arc::new(move |progress: Progress| {
        let sequence = progress.sequence;
        // A call is told of with the sequence of the intent that it belongs to.
        if matches!(progress.body, ProgressBody::Call { .. }) {
            return;
        }
        keep.lock().unwrap().push(progress);
        if dropped == Some(sequence) {
            std::panic::resume_unwind(Box::new("dropped"));
        }
    }));
    let host = library::host(workspace.path());
    let task: Task = demo::task("price-change");
    let run = || library::run(&host, Planner::Search, task, options).unwrap();
    std::panic::catch_unwind(AssertUnwindSafe(run)).ok()
}

fn kind(progress: &Progress) -> &'static str {
    match &progress.body {
        ProgressBody::Record { kind, .. } => kind,
        other => panic!("the search tells no {other:?}"),
    }
}

/// X7: whoever listens to all runs of a task hears of each record once, and the records are those of the journal.
#[test]
fn each_event_is_told_once_over_all_runs_of_a_task() {
    let workspace = Workspace::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut runs = 0;
    loop {
        runs += 1;
        let outcome = run(&workspace, Some(Checkpoint::Step), None, &heard);
        if matches!(outcome.unwrap(), Outcome::Finished(_)) {
            break;
        }
    }
    assert_eq!(runs, 5);
    // A finished task has nothing to tell.
    assert!(run(&workspace, None, None, &heard).is_some());

    let heard = heard.lock().unwrap();
    let told: Vec<_> = heard
        .iter()
        .map(|event| (event.sequence, kind(event).to_owned(), event.at.to_string()))
        .collect();
    let recorded: Vec<_> = workspace
        .journal(TASK)
        .into_iter()
        .map(|row| (row.sequence, row.kind, row.at))
        .collect();
    assert_eq!(told, recorded);
    assert!(heard.iter().all(|event| event.task.as_str() == TASK));
    let ids: BTreeSet<_> = heard.iter().map(|event| event.run.to_string()).collect();
    assert_eq!(ids.len(), runs, "each run has an id of its own");
    let begun = heard
        .windows(2)
        .filter(|pair| pair[0].run != pair[1].run)
        .map(|pair| kind(&pair[1]));
    assert_eq!(begun.collect::<Vec<_>>(), ["resumed"; 4]);
}

#[test]
fn each_call_of_the_plugin_is_told_of_with_the_intent_that_it_belongs_to_as_it_is_recorded() {
    let workspace = Workspace::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&heard);
    let mut options = RunOptions::default();
    options.progress = Some(Arc::new(move |progress: Progress| {
        if let ProgressBody::Call { call } = progress.body {
            keep.lock().unwrap().push((progress.sequence, call));
        }
    }));
    let host = library::host(workspace.path());
    library::run(&host, Planner::Search, demo::task("price-change"), options).unwrap();

    let mut recorded = Vec::new();
    for row in workspace.journal(TASK) {
        if row.kind == "finished" {
            let calls = row.body["finished"]["calls"].as_array();
            let calls = calls.into_iter().flatten().cloned();
            recorded.extend(calls.map(|call| (row.sequence - 1, call)));
        }
    }
    let heard = heard.lock().unwrap();
    let told: Vec<_> = heard
        .iter()
        .map(|(sequence, call)| (*sequence, serde_json::to_value(call).unwrap()))
        .collect();
    assert!(told.len() > 10, "{told:?}");
    assert_eq!(told, recorded);
}

/// X7: a run that was killed had told of records that are lost; the next run tells of others in their place, under its own id.
#[test]
fn after_a_kill_no_two_events_carry_the_same_run_and_sequence_and_the_last_of_each_sequence_is_true()
 {
    let whole = Workspace::new();
    let nobody = Arc::new(Mutex::new(Vec::new()));
    let _ = run(&whole, None, None, &nobody);
    for last in 2..=whole.journal(TASK).len() as u64 {
        let workspace = Workspace::new();
        let heard = Arc::new(Mutex::new(Vec::new()));
        assert!(run(&workspace, None, Some(last), &heard).is_none());
        let durable = workspace.journal(TASK).len() as u64;
        assert!(run(&workspace, None, None, &heard).is_some());
        let heard = heard.lock().unwrap();
        let names: BTreeSet<_> = heard
            .iter()
            .map(|event| (event.task.as_str(), event.run.to_string(), event.sequence))
            .collect();
        assert_eq!(names.len(), heard.len(), "record {last}");
        let mut latest = vec![""; workspace.journal(TASK).len()];
        for event in heard.iter() {
            let told = &mut latest[usize::try_from(event.sequence).unwrap() - 1];
            assert!(
                told.is_empty() || event.sequence > durable,
                "record {last}: {} is told of again",
                event.sequence
            );
            *told = kind(event);
        }
        let recorded: Vec<_> = workspace
            .journal(TASK)
            .into_iter()
            .map(|row| row.kind)
            .collect();
        assert_eq!(latest, recorded, "record {last}");
    }
}
