//! From bytes to what must hold of them, whatever they are. Also called by the tests (`tests/fuzz.rs`), with what is kept in
//! `corpus` and with mutations of it.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::{
    core::{
        chain::{Event, Record, origin},
        contract::Subject,
        machine::{Loop as _, Machine},
        plan_execute::{plan_reader, state::TaskState},
        ports::journal::StoredRecord,
        request::Request,
    },
    words::{digest::Digest, id::is_identifier},
};

/// A model's answer becomes a plan whose every id is one, and which reads as the same plan again; or a refusal with reasons that
/// can be shown.
pub fn plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    assert!(plan_reader::read(text, "length").is_err());
    match plan_reader::read(text, "stop") {
        Ok(plan) => {
            for step in &plan.steps {
                let mut ids = std::iter::once(&step.id).chain(&step.depends_on);
                assert!(ids.all(|id| is_identifier(id.as_str())));
            }
            let written = plan_reader::written(&plan).to_string();
            assert_eq!(plan_reader::read(&written, "stop").as_ref(), Ok(&plan));
        }
        Err(violations) => {
            assert!(!violations.is_empty());
            for violation in violations {
                assert!(!violation.code.is_empty() && !violation.message.is_empty());
                let id = violation.step_id.unwrap_or_default();
                assert!(id.chars().count() <= 81 && !id.contains(char::is_control));
            }
        }
    }
}

/// A request that is accepted names everything by plain ids, within its bounds, and is the same when it is read again.
pub fn request(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(request) = Request::read(text) else {
        return;
    };
    let ids = [
        request.id.as_str(),
        request.tenant.as_str(),
        request.principal.as_str(),
        request.plugin.name.as_str(),
    ];
    assert!(ids.into_iter().all(is_identifier));
    assert!((1..=5).contains(&request.budgets.max_plans) && request.budgets.max_actions <= 30);
    assert!((1..=3600).contains(&request.budgets.deadline_seconds));
    assert!(serde_json::from_str::<Value>(request.input.as_str()).is_ok());
    let again = Request::read(request.text()).expect("what was accepted is accepted again");
    assert_eq!(again.fingerprint(), request.fingerprint());
    assert_eq!(again.input_digest(), request.input_digest());
}

/// The request of the task whose journal is folded.
static REQUEST: LazyLock<Arc<Request>> = LazyLock::new(|| {
    let text = r#"{"id":"fuzz","tenant":"a","principal":"p","goal":"Fold it.",
        "plugin":{"name":"n","version":"1","digest":"0000000000000000000000000000000000000000000000000000000000000000"},
        "budgets":{"maxPlans":3,"maxActions":12,"deadlineSeconds":600},"input":{}}"#;
    Arc::new(Request::read(text).expect("it has the documented form"))
});

/// Lines that are events follow on an admitted task, a second apart. However they continue it, folding them once more gives the
/// same task; a record that is not in its chain is refused.
pub fn journal(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let subject = Subject::new("subject".to_owned()).expect("it is short");
    let first = TaskState::admission(&REQUEST, subject);
    let events = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Event>(line).ok());
    let mut live = machine();
    let mut stored = Vec::new();
    for (event, second) in std::iter::once(first).chain(events).zip(0..) {
        let at = jiff::Timestamp::from_second(second).expect("it is early");
        let (record, kept) = Record::following(live.position(), at, event);
        let read = Record::read(live.position(), &kept).expect("it follows");
        assert_eq!(read, record);
        if live.apply(record).is_err() {
            // The state is of no further use, and a fold ends with the same refusal.
            stored.push(kept);
            assert!(machine().fold(&stored).is_err());
            return;
        }
        stored.push(kept);
        // What follows can be told of any state.
        if let Some(graph) = live.next().graph() {
            assert!(!graph.nodes().is_empty());
        }
        let _ = (live.state().view(), live.state().working_set());
    }
    let folded = machine().fold(&stored).expect("it was folded before");
    assert_eq!(folded.position(), live.position());
    assert_eq!(folded.next(), live.next());
    assert_eq!(
        serde_json::to_value(folded.state().view()).ok(),
        serde_json::to_value(live.state().view()).ok()
    );
    unchained(text, &stored);
}

/// Any text as a record's body, behind the last record and with its hash.
fn unchained(text: &str, stored: &[StoredRecord]) {
    let last = stored.last().expect("a task was admitted");
    let forged = StoredRecord {
        sequence: last.sequence + 1,
        kind: "finished".to_owned(),
        at: last.at,
        body: text.to_owned(),
        hash: Digest::of(text),
    };
    assert!(machine().fold(&[stored, &[forged]].concat()).is_err());
}

fn machine() -> Machine<TaskState> {
    let machine = Machine::new(TaskState::new(Arc::clone(&REQUEST)), REQUEST.fingerprint());
    assert_eq!(machine.position(), origin(REQUEST.fingerprint()));
    machine
}
