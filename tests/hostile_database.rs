//! Guests that attack the database through the transaction they are lent (`tests/hostile/guests`).

use std::path::Path;

use wharf::core::{contract::Failure, ports::business::Performed};
use wharf_tests::{
    guest,
    hostile::{Attack, STANDARD, attack, fails},
};

/// The guest says that no statement of its worked.
#[track_caller]
fn nothing_works(attack: &Attack) {
    let performed = attack.perform("add").unwrap();
    assert!(
        matches!(&performed, Performed::Failed(Failure::Rejected(text)) if text == "nothing worked"),
        "{performed:?}"
    );
}

#[test]
fn attaches_a_file() {
    attack(guest!(), STANDARD, |attack| {
        nothing_works(attack);
        for file in [
            "/tmp/wharf-zoo-attached",
            "/tmp/wharf-zoo-vacuum",
            "/tmp/wharf-zoo-written",
        ] {
            assert!(!Path::new(file).exists(), "{file}");
        }
        assert!(!Path::new("stolen.sqlite").exists());
    });
}

#[test]
fn commits_the_transaction() {
    attack(guest!(), STANDARD, nothing_works);
}

#[test]
fn forges_a_ledger_row() {
    attack(guest!(), STANDARD, |attack| {
        let tables = "SELECT count(*) FROM sqlite_schema";
        let before = attack.count(tables);
        nothing_works(attack);
        assert_eq!(attack.count(tables), before);
    });
}

#[test]
fn rolls_the_transaction_back() {
    attack(guest!(), STANDARD, |attack| {
        fails(attack.perform("add"), "sql-transaction-ended");
    });
}

#[test]
fn writes_in_a_read() {
    attack(guest!(), STANDARD, |attack| {
        let performed = attack.perform("look").unwrap();
        assert!(
            matches!(&performed, Performed::Failed(Failure::Rejected(text)) if text == "denied true"),
            "{performed:?}"
        );
    });
}

#[test]
fn writes_in_a_snapshot() {
    attack(guest!(), STANDARD, |attack| {
        let snapshot = attack.snapshot().unwrap().unwrap();
        assert_eq!(snapshot.as_str(), "\"denied\"");
    });
}
