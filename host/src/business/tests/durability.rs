//! When a commit's sync is made, and when it is known not to be needed.

use super::*;

#[test]
fn the_first_settle_after_opening_is_a_real_sync_and_the_next_is_free() {
    let fixture = Fixture::new();
    let store = open(&fixture.folder, SqlLimits::standard());
    let before = store.syncs();
    for _ in 0..3 {
        store.settle().unwrap();
        assert_eq!(store.syncs(), before + 1);
    }
}

#[test]
fn settling_is_free_after_an_own_commit_and_real_after_somebody_elses() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let syncs = fixture.store.syncs();
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs, "our own commit was synced");

    // Reading, failing and rolling back change nothing.
    fixture.reading(|sql| run(sql, "SELECT * FROM items").unwrap());
    fixture.writing(|sql| add_item(sql, "declined"));
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs);

    let outside = fixture.outside();
    outside
        .execute_batch("PRAGMA synchronous = NORMAL; INSERT INTO counters VALUES ('theirs', 1)")
        .unwrap();
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs + 1, "theirs was not synced");
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs + 1);
}

/// The gap that matters: somebody commits after our last commit, we begin, look, and roll back. What we saw is theirs.
#[test]
fn a_rollback_after_somebody_elses_commit_does_not_hide_it() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let syncs = fixture.store.syncs();
    fixture
        .outside()
        .execute_batch("INSERT INTO counters VALUES ('theirs', 1)")
        .unwrap();
    fixture.writing(|sql| {
        assert_eq!(run(sql, "SELECT * FROM counters").unwrap().rows.len(), 1);
    });
    assert_eq!(fixture.store.syncs(), syncs);
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs + 1);
}

#[test]
fn an_own_commit_after_somebody_elses_covers_both() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    fixture
        .outside()
        .execute_batch("INSERT INTO counters VALUES ('theirs', 1)")
        .unwrap();
    fixture.add("t1", "k2");
    let syncs = fixture.store.syncs();
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs);
}

#[test]
fn finding_a_row_and_replaying_another_tasks_row_settle_what_was_read() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    // Another process performs, and is killed before anybody knows whether its commit was synced.
    let other = open(&fixture.folder, SqlLimits::standard());
    let mut k2 = operation("t2", "k2");
    assert!(matches!(
        other.perform(&k2, &mut |_| done()).unwrap(),
        Performed::Done { .. }
    ));
    let syncs = fixture.store.syncs();
    let row = fixture
        .store
        .find(&k2.plugin, &k2.subject, &k2.key)
        .unwrap();
    assert!(row.is_some());
    assert_eq!(fixture.store.syncs(), syncs + 1);

    other
        .perform(&operation("t2", "k3"), &mut |_| done())
        .unwrap();
    k2.key = OperationKey::new("k3".into()).unwrap();
    k2.task = "t1".parse().unwrap();
    let replayed = fixture.store.perform(&k2, &mut |_| panic!("called"));
    assert!(matches!(
        replayed.unwrap(),
        Performed::Done { replayed: true, .. }
    ));
    assert_eq!(fixture.store.syncs(), syncs + 2);
    fixture.store.settle().unwrap();
    assert_eq!(fixture.store.syncs(), syncs + 2);
}

#[test]
fn every_operation_and_every_anchor_is_one_commit_with_a_sync() {
    let fixture = Fixture::new();
    let syncs = fixture.store.syncs();
    fixture.add("t1", "k1");
    fixture
        .store
        .anchor(&"t1".parse().unwrap(), &position(2))
        .unwrap();
    assert_eq!(fixture.store.syncs(), syncs + 2);
    let normal: i64 = fixture.store.synchronous();
    assert_eq!(normal, 1, "the writer syncs, and checkpoints do");
}
