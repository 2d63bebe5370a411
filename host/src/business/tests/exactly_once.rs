//! One effect per (plugin, subject, key), and none without its row.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::words::error::Kind;

fn never_called(_: Arc<dyn Sql>) -> Result<Result<StepAnswer, Failure>, Error> {
    panic!("the step was called again")
}

#[test]
fn an_operation_leaves_its_effect_its_row_and_its_anchor() {
    let fixture = Fixture::new();
    let Performed::Done { row, replayed } = fixture.add("t1", "k1") else {
        panic!("not done")
    };
    assert!(!replayed);
    assert_eq!(row.data.as_str(), "{\"b\": 1.0, \"a\":2}");
    let mut stored = fixture.store.rows_of(&"t1".parse().unwrap()).unwrap();
    assert_eq!(stored.as_slice(), std::slice::from_ref(&*row));
    let found = fixture
        .store
        .find(&row.plugin, &row.subject, &row.key)
        .unwrap();
    assert_eq!(found, stored.pop());
    assert_eq!(
        fixture.store.anchor_of(&"t1".parse().unwrap()).unwrap(),
        Some(position(1))
    );
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 1);
    assert_eq!(
        fixture.count("SELECT count(*) FROM wharf_ledger WHERE at = '2030-01-02T03:04:05Z'"),
        1
    );
}

#[test]
fn a_second_attempt_is_answered_from_the_ledger_without_a_call() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let mut again = operation("t1", "k1");
    again.tool = "other".into();
    again.arguments_digest = Digest::of("other");
    again.position = position(9);
    let replayed = fixture.store.perform(&again, &mut never_called).unwrap();
    let Performed::Done {
        row,
        replayed: true,
    } = replayed
    else {
        panic!("not replayed")
    };
    assert_eq!((row.tool.as_str(), row.sequence), ("tool", 1));
    assert_eq!(
        fixture.store.anchor_of(&row.task).unwrap(),
        Some(position(1)),
        "a replay commits nothing"
    );
}

#[test]
fn another_task_with_equal_input_and_arguments_is_answered_by_whatever_tool() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let mut other = operation("t2", "k1");
    other.tool = "other".into();
    let replayed = fixture.store.perform(&other, &mut never_called).unwrap();
    assert!(
        matches!(replayed, Performed::Done { row, replayed: true } if row.task.as_str() == "t1")
    );
    other.arguments_digest = Digest::of("other");
    let refused = fixture.store.perform(&other, &mut never_called).unwrap();
    assert!(matches!(refused, Performed::SubjectConflict(found) if found == conflict("t1", "k1")));
}

#[test]
fn a_subject_that_another_input_touched_is_refused_before_the_first_call() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    for (task, key) in [("t2", "k2"), ("t2", "k1"), ("t1", "k1")] {
        let mut other = operation(task, key);
        other.input_digest = Digest::of("other");
        let refused = fixture.store.perform(&other, &mut never_called).unwrap();
        assert!(
            matches!(refused, Performed::SubjectConflict(found) if found == conflict("t1", "k1"))
        );
    }
    let read = |input: &str| Read {
        plugin: "p".parse().unwrap(),
        subject: Some((Subject::new("subject".into()).unwrap(), Digest::of(input))),
    };
    let mut calls = 0;
    let mut call = |_| {
        calls += 1;
        Ok(())
    };
    use crate::core::ports::business::ReadOutcome;
    let refused = fixture.store.read(&read("other"), &mut call).unwrap();
    assert_eq!(refused, ReadOutcome::SubjectConflict(conflict("t1", "k1")));
    let allowed = fixture.store.read(&read("input"), &mut call).unwrap();
    assert_eq!((allowed, calls), (ReadOutcome::Read, 1));

    let mut elsewhere = operation("t2", "k1");
    elsewhere.input_digest = Digest::of("other");
    elsewhere.subject = Subject::new("elsewhere".into()).unwrap();
    let performed = fixture.store.perform(&elsewhere, &mut |_| done()).unwrap();
    assert!(matches!(
        performed,
        Performed::Done {
            replayed: false,
            ..
        }
    ));
}

#[test]
fn whatever_is_not_done_leaves_nothing() {
    let fixture = Fixture::new();
    type Answer = fn() -> Result<Result<StepAnswer, Failure>, Error>;
    let answers: [Answer; 4] = [
        || Ok(Ok(StepAnswer::Declined(JsonText::of(&"no")))),
        || Ok(Err(Failure::EnvironmentChanged("changed".into()))),
        || Ok(Err(Failure::Rejected("never".into()))),
        || Err(crate::business::BusinessError::ReadOnly.into()),
    ];
    for answer in answers {
        let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
            add_item(&*sql, "a");
            answer()
        });
        match performed {
            Ok(Performed::Declined(data)) => assert_eq!(data.as_str(), "\"no\""),
            Ok(Performed::Failed(_)) => {}
            Err(error) => assert_eq!(error.code(), "business-read-only"),
            other => panic!("{other:?}"),
        }
    }
    for table in ["items", "wharf_ledger", "wharf_anchors"] {
        assert_eq!(fixture.count(&format!("SELECT count(*) FROM {table}")), 0);
    }
    fixture.add("t1", "k1");
}

#[test]
fn a_panic_inside_the_call_leaves_the_database_untouched_and_usable() {
    let fixture = Fixture::new();
    let mut kept = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _ = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
            add_item(&*sql, "a");
            kept = Some(Arc::clone(&sql));
            panic!("inside the call")
        });
    }));
    assert!(panicked.is_err());
    assert!(arc_is_closed(&kept.unwrap()));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let read = Read {
            plugin: "p".parse().unwrap(),
            subject: None,
        };
        let _ = fixture
            .store
            .read(&read, &mut |_| panic!("inside the read"));
    }));
    assert!(panicked.is_err());
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 0);
    fixture.add("t1", "k1");
    fixture.reading(|sql| {
        assert_eq!(run(sql, "SELECT * FROM items").unwrap().rows.len(), 1);
    });
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 1);
}

#[test]
fn a_handle_that_outlives_its_call_is_refused() {
    let fixture = Fixture::new();
    let mut kept = Vec::new();
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        kept.push(Arc::clone(&sql));
        done()
    });
    assert!(performed.is_ok());
    let read = Read {
        plugin: "p".parse().unwrap(),
        subject: None,
    };
    let read = fixture.store.read(&read, &mut |sql| {
        kept.push(sql);
        Ok(())
    });
    assert!(read.is_ok());
    assert!(kept.iter().all(arc_is_closed));
    assert_eq!(kept.len(), 2);
    assert!(matches!(
        kept[0].execute("DELETE FROM items", &[]),
        Err(SqlFault::Denied(_))
    ));
}

#[test]
fn an_anchor_never_goes_back() {
    let fixture = Fixture::new();
    let task = "t1".parse().unwrap();
    fixture.store.anchor(&task, &position(5)).unwrap();
    fixture.store.anchor(&task, &position(5)).unwrap();
    fixture.store.anchor(&task, &position(7)).unwrap();
    let forged = Position {
        sequence: 7,
        head: Digest::of("another record"),
    };
    for wrong in [position(6), forged] {
        let error = fixture.store.anchor(&task, &wrong).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("anchor-conflict", Kind::Corrupt)
        );
        let mut stale = operation("t1", "k1");
        stale.position = wrong;
        let error = fixture
            .store
            .perform(&stale, &mut never_called)
            .unwrap_err();
        assert_eq!(error.code(), "anchor-conflict");
    }
    assert_eq!(fixture.store.anchor_of(&task).unwrap(), Some(position(7)));
    assert_eq!(
        fixture.store.anchor_of(&"t2".parse().unwrap()).unwrap(),
        None
    );
}

#[test]
fn many_threads_and_tasks_perform_each_operation_once() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for task in ["t1", "t2", "t3", "t4"] {
            let fixture = &fixture;
            scope.spawn(move || {
                for key in 0..10 {
                    fixture.add(task, &format!("k{key}"));
                    fixture.reading(|sql| run(sql, "SELECT count(*) FROM items").unwrap());
                }
            });
        }
    });
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 10);
    assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), 10);
}

#[test]
fn rows_that_were_changed_by_hand_are_reported_and_not_believed() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let task = "t1".parse().unwrap();
    for change in ["data = '{'", "input_digest = 'x'", "sequence = -1"] {
        let outside = fixture.outside();
        outside
            .execute_batch(&format!("UPDATE wharf_ledger SET {change}"))
            .unwrap();
        let error = fixture.store.rows_of(&task).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("row-malformed", Kind::Corrupt)
        );
    }
}
