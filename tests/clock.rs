//! What time it is, is the clock's business: a clock that is set back gives no time away, and none is lost by a pause.

use std::sync::Arc;

use serde_json::Value;
use wharf::{
    Checkpoint, Error, Kind, Outcome, Planner, RunOptions, StopReason, Task, host,
    words::clock::Clock as _,
};
use wharf_tests::{
    Workspace,
    demo::{self, TASK},
    library::{self, TestClock},
};

/// One task under a clock of its own; its deadline is 600 seconds after admission.
struct Timed {
    workspace: Workspace,
    clock: Arc<TestClock>,
}

impl Timed {
    fn begin() -> Self {
        let timed = Self {
            workspace: Workspace::new(),
            clock: TestClock::at("2026-01-01T12:00:00Z"),
        };
        timed
            .run(demo::task("stable"), Some(Checkpoint::Plan))
            .unwrap();
        timed
    }

    /// Each run with a host of its own, as another process would have.
    fn run(&self, task: Task, stop_after: Option<Checkpoint>) -> Result<Outcome, Error> {
        let builder = library::builder(self.workspace.path());
        let host = builder.clock(self.clock.clone()).build().unwrap();
        let mut options = RunOptions::default();
        options.stop_after = stop_after;
        library::run(&host, Planner::Search, task, options)
    }

    fn resume(&self, stop_after: Option<Checkpoint>) -> Result<Outcome, Error> {
        self.run(Task::Saved(TASK.parse().unwrap()), stop_after)
    }

    #[track_caller]
    fn finish(&self) -> (StopReason, Value) {
        match self.resume(None).unwrap() {
            Outcome::Finished(finished) => (
                finished.stop_reason,
                serde_json::from_str(&finished.report).unwrap(),
            ),
            other => panic!("{other:?}"),
        }
    }

    fn seconds_left(&self) -> i64 {
        let task = TASK.parse().unwrap();
        let status = host::status(&self.workspace.path(), &task, self.clock.now()).unwrap();
        status.time_left_ms.unwrap() / 1000
    }
}

/// B4: set back.
#[test]
fn a_clock_that_was_set_back_between_two_runs_gives_no_time_away() {
    let timed = Timed::begin();
    timed.clock.advance_seconds(500);
    timed.resume(Some(Checkpoint::Step)).unwrap();
    timed.clock.advance_seconds(-300);
    timed.resume(Some(Checkpoint::Step)).unwrap();
    let (reason, report) = timed.finish();
    assert_eq!(reason, StopReason::Completed);
    assert_eq!(report["generatedAt"], "2026-01-01T12:08:20Z");
    let times: Vec<_> = timed
        .workspace
        .journal(TASK)
        .into_iter()
        .map(|row| row.at)
        .collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// B4: set back before the start.
#[test]
fn a_clock_before_the_task_s_beginning_is_an_error_and_nothing_is_written() {
    let timed = Timed::begin();
    timed.resume(Some(Checkpoint::Step)).unwrap();
    timed.clock.advance_seconds(-1);
    let before = timed.workspace.standing();
    let error = timed.resume(None).unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("clock-before-start", Kind::Unavailable)
    );
    assert_eq!(timed.workspace.standing(), before);
    // No more is left than there was.
    assert_eq!(timed.seconds_left(), 600);
    timed.clock.advance_seconds(1);
    assert_eq!(timed.finish().0, StopReason::Completed);
}

#[test]
fn a_pause_counts_to_the_deadline() {
    let timed = Timed::begin();
    timed.clock.advance_seconds(599);
    assert_eq!(timed.seconds_left(), 1);
    timed.resume(Some(Checkpoint::Step)).unwrap();
    timed.clock.advance_seconds(1);
    assert_eq!(timed.seconds_left(), 0);
    let (reason, report) = timed.finish();
    assert_eq!(reason, StopReason::Deadline);
    assert_eq!(report["result"], Value::Null);
    assert_eq!(timed.workspace.ledger().len(), 1);
}

/// B4: set forward, and back again.
#[test]
fn a_clock_that_was_set_back_past_the_deadline_does_not_reopen_it() {
    let timed = Timed::begin();
    timed.clock.advance_seconds(600);
    // The deadline is noticed by the first record of this run.
    assert_eq!(timed.finish().0, StopReason::Deadline);
    timed.clock.advance_seconds(-500);
    assert_eq!(timed.finish().0, StopReason::Deadline);
    assert_eq!(timed.workspace.ledger(), []);
}

/// B4: a day too far, which nobody had noticed when the task was looked at; what is left is nothing, and never less.
#[test]
fn a_clock_that_was_set_forward_between_two_runs_leaves_nothing_and_not_less() {
    let timed = Timed::begin();
    timed.resume(Some(Checkpoint::Step)).unwrap();
    timed.clock.advance_seconds(24 * 3600);
    assert_eq!(timed.seconds_left(), 0);
    // Nobody has run it: once the clock is right again, so is the task.
    timed.clock.advance_seconds(-24 * 3600);
    assert_eq!(timed.seconds_left(), 600);
    let (reason, report) = timed.finish();
    assert_eq!(reason, StopReason::Completed);
    assert_eq!(report["usage"]["actionCalls"], 4);
}
