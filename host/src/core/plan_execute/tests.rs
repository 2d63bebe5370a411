//! The Loop alone, without any technology: what is fed in are the outputs that Workers would yield.

mod answers;
mod folding;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    operations::{Checked, Concluded, Content, Outcome, Performance, Seen, StepRecord, to_value},
    stages,
    state::TaskState,
    stop::{Status, StopReason},
};
use crate::{
    core::{
        chain::{Event, Record},
        contract::{OperationKey, Subject, Violation},
        graph::Graph,
        machine::{Checkpoint, Loop as _, Machine, Next},
        metering::CallUse,
        ports::{
            journal::StoredRecord,
            model::{Answer, Usage},
        },
        request::Request,
    },
    words::{id::RunId, json::JsonText},
};

/// A task whose outputs the test makes up.
struct Task {
    request: Arc<Request>,
    machine: Machine<TaskState>,
    stored: Vec<StoredRecord>,
    now: Timestamp,
}

impl Task {
    fn with_budgets(max_plans: u32, max_actions: u32, deadline_seconds: u32) -> Self {
        Self::forgiving(0, max_plans, max_actions, deadline_seconds)
    }

    /// So many plans may be refused.
    fn forgiving(invalid: u32, max_plans: u32, max_actions: u32, deadline_seconds: u32) -> Self {
        let request = json!({
            "id": "t", "tenant": "a", "principal": "p", "goal": "Paint it.",
            "plugin": {"name": "painter", "version": "1", "digest": "0".repeat(64)},
            "budgets": {"maxPlans": max_plans, "maxActions": max_actions, "deadlineSeconds": deadline_seconds, "maxInvalidPlans": invalid},
            "input": {"wall": 1},
        });
        let request = Arc::new(Request::read(&request.to_string()).unwrap());
        let machine = Machine::new(TaskState::new(Arc::clone(&request)), request.fingerprint());
        let mut task = Self {
            request,
            machine,
            stored: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
        };
        let admission =
            TaskState::admission(&task.request, Subject::new("wall-1".to_owned()).unwrap());
        task.record(admission);
        task
    }

    fn new() -> Self {
        Self::with_budgets(3, 12, 600)
    }

    fn record(&mut self, event: Event) {
        let (record, stored) = Record::following(self.machine.position(), self.now, event);
        self.machine.apply(record).unwrap();
        self.stored.push(stored);
    }

    fn resume(&mut self) {
        self.record(Event::Resumed {
            run: RunId::beginning_at(self.now),
        });
    }

    /// Intends what comes next, and says what it is.
    fn intend(&mut self) -> String {
        let next = self.machine.next();
        let Some(graph) = next.graph().cloned() else {
            panic!("nothing to run: {next:?}")
        };
        let stage = graph.stage().to_owned();
        self.record(Event::Intended { graph });
        stage
    }

    fn finish(&mut self, node: usize, nodes: usize, output: Value) {
        let mut outputs = vec![Value::Null; nodes];
        outputs[node] = output;
        self.record(Event::Finished {
            outputs,
            calls: Vec::new(),
        });
    }

    fn see(&mut self, snapshot: &str) {
        assert_eq!(self.intend(), stages::SNAPSHOT);
        let text = JsonText::of(&json!({ "colour": snapshot }));
        self.finish(stages::SNAPSHOT_AT, 1, to_value(&Seen::Snapshot(text)));
    }

    fn answer(&mut self, answer: &Answer, violations: Vec<Violation>) {
        assert_eq!(self.intend(), stages::PLAN);
        let outputs = vec![
            Value::Null,
            Value::Null,
            to_value(answer),
            to_value(&Checked { violations }),
        ];
        self.record(Event::Finished {
            outputs,
            calls: Vec::new(),
        });
    }

    fn plan(&mut self, tools: &[&str]) {
        self.answer(&text(&plan(tools)), Vec::new());
    }

    fn perform(&mut self, outcome: Outcome) {
        assert_eq!(self.intend(), stages::STEP);
        self.finish_step(outcome);
    }

    fn finish_step(&mut self, outcome: Outcome) {
        let correlation = self.machine.position().sequence;
        self.finish(
            stages::OUTCOME_AT,
            4,
            to_value(&Performance {
                correlation,
                outcome: Some(outcome),
            }),
        );
    }

    fn recover(&mut self, outcome: Option<Outcome>) {
        assert_eq!(self.intend(), stages::RECOVER);
        let correlation = self.machine.position().sequence;
        self.finish(
            stages::RECOVERED_AT,
            2,
            to_value(&Performance {
                correlation,
                outcome,
            }),
        );
    }

    fn conclude(&mut self, concluded: &Concluded) {
        assert_eq!(self.intend(), stages::CONCLUDE);
        self.finish(stages::CONCLUDED_AT, 3, to_value(concluded));
    }

    /// Publishes and yields the report.
    fn publish(&mut self) -> Value {
        assert_eq!(self.intend(), stages::PUBLISH);
        self.finish(0, 1, Value::Null);
        assert_eq!(self.machine.next(), Next::Done);
        let outputs = self.state().publication().unwrap();
        let report = outputs.last().unwrap();
        assert_eq!(report.name, "report.json", "the report is written last");
        let Content::Text(text) = &report.content else {
            panic!("a report is text")
        };
        serde_json::from_str(text).unwrap()
    }

    fn state(&self) -> &TaskState {
        self.machine.state()
    }

    fn stop_reason(&self) -> Option<StopReason> {
        self.state().stop_reason()
    }

    fn pause(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }
}

fn plan(tools: &[&str]) -> Value {
    let steps: Vec<_> = tools.iter().enumerate().map(|(at, tool)| json!({"id": format!("s{at}"), "tool": tool, "dependsOn": [], "expected": "done"})).collect();
    json!({"goal": "g", "status": "ready", "reason": "r", "steps": steps})
}

fn text(plan: &Value) -> Answer {
    Answer::Text {
        text: plan.to_string(),
        finish_reason: "stop".to_owned(),
        usage: None,
    }
}

fn key(name: &str) -> OperationKey {
    OperationKey::new(name.to_owned()).unwrap()
}

fn done(name: &str) -> Outcome {
    let data = JsonText::of(&json!({ "did": name }));
    Outcome::Recorded(StepRecord {
        operation_key: Some(key(name)),
        data,
        replayed: false,
        declined: false,
        origin: None,
    })
}

fn changed() -> Outcome {
    Outcome::EnvironmentChanged {
        message: "it rains".to_owned(),
    }
}

fn unknown(name: &str) -> Outcome {
    Outcome::OutcomeUnknown {
        message: "lost".to_owned(),
        operation_key: key(name),
    }
}

fn fulfilled() -> Concluded {
    Concluded::Fulfilled {
        result: JsonText::of(&json!({"wall": "red"})),
        summary: "painted".to_owned(),
        artifacts: Vec::new(),
    }
}

fn refused() -> Vec<Violation> {
    vec![Violation {
        code: "no".to_owned(),
        message: "no".to_owned(),
        step_id: None,
    }]
}

#[test]
fn a_task_goes_from_snapshot_to_report() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&["paint", "dry"]);
    assert_eq!(task.state().reached(), [Checkpoint::Plan]);
    task.perform(done("paint"));
    assert_eq!(task.state().reached(), [Checkpoint::Step]);
    task.perform(done("dry"));
    task.conclude(&fulfilled());
    assert_eq!(task.state().reached(), [Checkpoint::Report]);
    let report = task.publish();
    assert_eq!(
        (&report["status"], &report["stopReason"]),
        (&json!("completed"), &json!("completed"))
    );
    assert_eq!(
        report["usage"],
        json!({"modelCalls": 1, "actionCalls": 2, "startedAt": "1970-01-01T00:00:00Z"})
    );
    assert_eq!(report["result"], json!({"wall": "red"}));
}

#[test]
fn every_stop_reason_publishes_without_a_result() {
    let planned = |tools: &[&str]| {
        let mut task = Task::new();
        task.see("white");
        task.plan(tools);
        task
    };
    let mut stops = Vec::new();

    let mut task = Task::new();
    task.see("white");
    task.answer(&text(&plan(&["paint"])), refused());
    stops.push((task, StopReason::InvalidPlan));

    let mut task = Task::new();
    task.see("white");
    task.answer(&Answer::SearchBound { candidates: 10_000 }, Vec::new());
    stops.push((task, StopReason::PlannerLimit));

    let mut task = Task::new();
    task.see("white");
    task.answer(
        &text(&json!({"goal": "g", "status": "needs-human", "reason": "no paint", "steps": []})),
        Vec::new(),
    );
    assert_eq!(
        task.state().plans().len(),
        1,
        "an accepted version, even without steps"
    );
    stops.push((task, StopReason::NeedsHuman));

    let mut task = planned(&["paint"]);
    task.perform(Outcome::Rejected {
        message: "the wall is gone".to_owned(),
    });
    stops.push((task, StopReason::StepFailed));

    let mut task = planned(&["paint"]);
    task.perform(Outcome::SubjectConflict {
        task: "other".parse().unwrap(),
        operation_key: key("paint"),
    });
    stops.push((task, StopReason::SubjectConflict));

    let mut task = planned(&["paint"]);
    task.perform(done("paint"));
    task.conclude(&Concluded::Refused {
        violations: refused(),
    });
    stops.push((task, StopReason::ConclusionRefused));

    for (mut task, reason) in stops {
        assert_eq!(task.stop_reason(), Some(reason));
        assert_eq!(task.state().reached().last(), Some(&Checkpoint::Report));
        let report = task.publish();
        assert_eq!(report["stopReason"], json!(reason.code()));
        assert_eq!(report["status"], json!(reason.status().code()));
        assert_ne!(reason.status(), Status::Completed);
        assert_eq!(report["result"], Value::Null);
        assert!(
            !report["details"].as_array().unwrap().is_empty(),
            "{reason:?} says why"
        );
    }
}

#[test]
fn an_empty_ready_plan_concludes_at_once() {
    let mut task = Task::new();
    task.see("red");
    task.plan(&[]);
    task.conclude(&fulfilled());
    assert_eq!(task.publish()["status"], "completed");
}

#[test]
fn a_changed_environment_leads_to_the_next_plan_version_for_what_remains() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&["paint", "dry"]);
    task.perform(done("paint"));
    task.perform(changed());
    task.see("wet");
    task.plan(&["heat"]);
    task.perform(done("heat"));
    task.conclude(&fulfilled());
    let report = task.publish();
    assert_eq!(
        report["changes"],
        json!([{"version": 1, "stepId": "s1", "code": "environment-changed", "message": "it rains"}])
    );
    assert_eq!(report["plans"][1]["version"], 2);
    assert_eq!(report["completed"][1]["version"], 2);
    assert_eq!(report["usage"]["modelCalls"], 2);
}

#[test]
fn the_replanner_sees_every_completed_step_and_change() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&["paint", "dry"]);
    task.perform(done("paint"));
    task.perform(changed());
    task.see("wet");
    let set = task.state().working_set();
    assert_eq!(set["completed"].as_array().unwrap().len(), 1);
    assert_eq!(set["changes"][0]["code"], "environment-changed");
    assert_eq!(set["plans"][0]["version"], 1);
    assert_eq!(set["snapshot"], r#"{"colour":"wet"}"#);
}

#[test]
fn the_same_plan_for_the_same_snapshot_after_a_change_is_a_stall() {
    let again = |snapshot: &str, tools: &[&str]| {
        let mut task = Task::new();
        task.see("white");
        task.plan(&["paint"]);
        task.perform(changed());
        task.see(snapshot);
        task.plan(tools);
        task.stop_reason()
    };
    assert_eq!(again("white", &["paint"]), Some(StopReason::Stalled));
    assert_eq!(again("wet", &["paint"]), None);
    assert_eq!(again("white", &["dry"]), None);
}

#[test]
fn an_unknown_outcome_is_looked_up_and_adopted_before_the_next_plan() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&["paint", "dry"]);
    task.perform(unknown("paint"));
    task.recover(Some(done("paint")));
    assert_eq!(task.state().completed().len(), 1);
    task.see("red");
    task.plan(&["dry"]);
    task.perform(done("dry"));
    task.conclude(&fulfilled());
    assert_eq!(task.publish()["changes"][0]["code"], "outcome-unknown");
}

#[test]
fn after_a_crash_an_own_ledger_row_is_adopted_under_the_old_reservation() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&["paint"]);
    task.intend();
    task.resume();
    task.recover(Some(done("paint")));
    assert_eq!(task.state().completed().len(), 1);
    task.conclude(&fulfilled());
    assert_eq!(task.publish()["usage"]["actionCalls"], 1);
}

#[test]
fn after_a_crash_a_step_without_a_row_is_reserved_anew() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&["paint"]);
    task.intend();
    task.resume();
    task.recover(None);
    task.perform(done("paint"));
    task.conclude(&fulfilled());
    assert_eq!(task.publish()["usage"]["actionCalls"], 2);
}

#[test]
fn no_action_is_reserved_beyond_its_budget() {
    let mut task = Task::with_budgets(3, 1, 600);
    task.see("white");
    task.plan(&["paint", "dry"]);
    task.perform(done("paint"));
    assert_eq!(task.stop_reason(), Some(StopReason::MaxActions));
    let report = task.publish();
    assert_eq!(report["usage"]["actionCalls"], 1);
    assert_eq!(report["completed"].as_array().unwrap().len(), 1);
}

#[test]
fn the_deadline_stops_the_next_action_and_not_the_conclusion() {
    let mut task = Task::with_budgets(3, 12, 10);
    task.see("white");
    task.plan(&["paint", "dry"]);
    task.pause(10);
    task.perform(done("paint"));
    assert_eq!(
        task.stop_reason(),
        Some(StopReason::Deadline),
        "a pause counts"
    );

    let mut task = Task::with_budgets(3, 12, 10);
    task.see("white");
    task.plan(&["paint"]);
    task.intend();
    task.pause(3600);
    task.finish_step(done("paint"));
    assert_eq!(
        task.stop_reason(),
        None,
        "what was reserved in time is not revoked"
    );
    task.conclude(&fulfilled());
    assert_eq!(task.publish()["status"], "completed");
}

#[test]
fn a_publication_that_was_interrupted_writes_the_very_same_bytes() {
    let mut task = Task::new();
    task.see("white");
    task.plan(&[]);
    task.conclude(&fulfilled());
    task.intend();
    let intended = task.state().publication();
    task.pause(60);
    task.resume();
    task.intend();
    assert_eq!(task.state().publication(), intended);
}

fn call() -> CallUse {
    let text = r#"{"function":"snapshot","micros":1,"memoryBytes":65536,"fault":"plugin-trap"}"#;
    serde_json::from_str(text).unwrap()
}

#[test]
fn records_out_of_order_are_refused() {
    let graph = |stage: &str| stages_by_name(stage);
    let mut task = Task::new();
    let refuse = |task: &mut Task, event: Event| {
        let (record, _) = Record::following(task.machine.position(), task.now, event);
        assert!(task.machine.apply(record).is_err());
    };
    refuse(
        &mut task,
        Event::Finished {
            outputs: vec![],
            calls: vec![],
        },
    );
    refuse(&mut task, Event::Charged { calls: vec![] });
    // After a charge the run is over: not even the outcome may follow.
    let mut task = Task::new();
    task.intend();
    task.record(Event::Charged {
        calls: vec![call()],
    });
    refuse(
        &mut task,
        Event::Finished {
            outputs: vec![Value::Null],
            calls: vec![],
        },
    );
    task.resume();
    assert_eq!(task.machine.calls().total().calls, 1);
    let mut task = Task::new();
    refuse(
        &mut task,
        Event::Intended {
            graph: graph(stages::CONCLUDE),
        },
    );
    let mut task = Task::new();
    let admission = TaskState::admission(&task.request, Subject::new("x".to_owned()).unwrap());
    refuse(&mut task, admission);
    let mut task = Task::new();
    task.intend();
    refuse(
        &mut task,
        Event::Intended {
            graph: graph(stages::SNAPSHOT),
        },
    );
    let mut task = Task::new();
    task.intend();
    refuse(
        &mut task,
        Event::Finished {
            outputs: vec![json!({"unknown": 1})],
            calls: vec![],
        },
    );
    let mut task = Task::new();
    task.intend();
    refuse(
        &mut task,
        Event::Finished {
            outputs: vec![Value::Null, Value::Null],
            calls: vec![],
        },
    );
    let mut task = Task::new();
    task.now = Timestamp::MIN;
    refuse(
        &mut task,
        Event::Resumed {
            run: RunId::beginning_at(Timestamp::UNIX_EPOCH),
        },
    );
}

fn stages_by_name(stage: &str) -> Graph {
    match stage {
        stages::CONCLUDE => stages::conclude(),
        _ => stages::snapshot(),
    }
}
