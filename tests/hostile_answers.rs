//! Guests whose answers are not what the contract asks for (`tests/hostile/guests`).

use wharf_tests::{
    guest,
    hostile::{Attack, IMPATIENT, STANDARD, attack, fails, traps, violates},
};

/// Each of these snapshots is refused for this reason, and one that is sound is not.
#[track_caller]
fn refuses(attack: &Attack, snapshots: &[(&str, &str)]) {
    for (goal, reason) in snapshots {
        let why = violates(attack.snapshot_of(goal));
        assert!(why.contains("the snapshot is not strict JSON"), "{why}");
        assert!(why.contains(reason), "{goal}: {why}");
    }
    let sound = attack.snapshot_of("sound").unwrap().unwrap();
    assert_eq!(sound.as_str(), "{}");
}

/// What two readers would read differently.
#[test]
fn answers_duplicate_keys() {
    attack(guest!(), STANDARD, |attack| {
        let reason = "stands twice";
        refuses(
            attack,
            &[("top", reason), ("deep", reason), ("escaped", reason)],
        );
    });
}

/// Integers that become others.
#[test]
fn answers_integers_beyond_doubles() {
    attack(guest!(), STANDARD, |attack| {
        let reason = "2^53";
        refuses(
            attack,
            &[("above", reason), ("below", reason), ("huge", reason)],
        );
    });
}

#[test]
fn answers_lone_surrogates() {
    attack(guest!(), STANDARD, |attack| {
        refuses(attack, &[("high", ""), ("low", ""), ("swapped", "")]);
    });
}

#[test]
fn answers_nul_characters() {
    attack(guest!(), STANDARD, |attack| {
        refuses(
            attack,
            &[("raw", "control character"), ("behind", "trailing")],
        );
        let escaped = attack.snapshot_of("escaped").unwrap().unwrap();
        assert_eq!(escaped.as_str(), r#""a\u0000b""#);
    });
}

#[test]
fn answers_numbers_beyond_all() {
    attack(guest!(), STANDARD, |attack| {
        refuses(
            attack,
            &[
                ("nan", ""),
                ("infinity", ""),
                ("large", "out of range"),
                ("hex", ""),
            ],
        );
    });
}

#[test]
fn answers_two_documents() {
    attack(guest!(), STANDARD, |attack| {
        let reason = "trailing";
        refuses(
            attack,
            &[
                ("two", reason),
                ("behind", reason),
                ("comment", reason),
                ("none", ""),
                ("mark", ""),
            ],
        );
    });
}

/// A text that is none.
#[test]
fn answers_invalid_utf8() {
    attack(guest!(), STANDARD, |attack| {
        let why = violates(attack.check_task());
        assert!(why.contains("not UTF-8"), "{why}");
    });
}

#[test]
fn answers_an_oversized_subject() {
    attack(guest!(), STANDARD, |attack| {
        for goal in ["long", "empty", "nul"] {
            let why = violates(attack.check_task_of(goal));
            assert!(
                why.contains("the subject is not 1 to 200 bytes"),
                "{goal}: {why}"
            );
        }
    });
}

#[test]
fn answers_an_oversized_operation_key() {
    attack(guest!(), STANDARD, |attack| {
        for (goal, tool) in [("long", "add"), ("nul", "add"), ("empty", "look")] {
            let why = violates(attack.operation_key_of(goal, tool));
            assert!(
                why.contains("the operation key is not 1 to 200 bytes"),
                "{goal}: {why}"
            );
        }
    });
}

#[test]
fn forgets_its_operation_key() {
    attack(guest!(), STANDARD, |attack| {
        let why = violates(attack.operation_key("add"));
        assert!(why.contains("has no operation key: add"), "{why}");
        assert_eq!(attack.operation_key("look").unwrap(), None);
    });
}

#[test]
fn refuses_without_a_violation() {
    attack(guest!(), STANDARD, |attack| {
        let refusals = [
            attack.check_task().map(drop),
            attack.check_plan().map(drop),
            attack.first_accepted(2).map(drop),
            attack.conclude().map(drop),
        ];
        for refusal in refusals {
            let why = violates(refusal);
            assert!(why.contains("without naming a violation"), "{why}");
        }
    });
}

#[test]
fn fails_a_snapshot_as_changed() {
    attack(guest!(), STANDARD, |attack| {
        let why = violates(attack.snapshot());
        assert!(why.contains("`environment-changed`"), "{why}");
    });
}

#[test]
fn uses_a_reserved_failure() {
    attack(guest!(), STANDARD, |attack| {
        for error in [attack.snapshot().map(drop), attack.perform("add").map(drop)] {
            let why = violates(error);
            assert!(why.contains("`outcome-unknown`"), "{why}");
        }
    });
}

#[test]
fn reports_a_wrong_postcondition() {
    attack(guest!(), STANDARD, |attack| {
        let why = violates(attack.perform("add"));
        assert!(why.contains("postcondition `added`: seen"), "{why}");
    });
}

#[test]
fn has_too_many_artifacts() {
    attack(guest!(), STANDARD, |attack| {
        let error = fails(attack.conclude(), "plugin-output-limit");
        assert!(
            error.to_string().contains("list of artifacts has 17"),
            "{error}"
        );
    });
}

#[test]
fn has_a_huge_artifact() {
    attack(guest!(), STANDARD, |attack| {
        let error = fails(attack.conclude(), "plugin-output-limit");
        assert!(
            error.to_string().contains("artifact has 1048577"),
            "{error}"
        );
    });
}

#[test]
fn has_twin_artifacts() {
    attack(guest!(), STANDARD, |attack| {
        let why = violates(attack.conclude());
        assert!(why.contains("two artifacts have the same name"), "{why}");
    });
}

#[test]
fn has_a_media_type_with_a_header() {
    attack(guest!(), STANDARD, |attack| {
        let why = violates(attack.conclude());
        assert!(why.contains("media type"), "{why}");
    });
}

/// E1: a sandbox that has trapped or was interrupted is not used again, not even for the rest of its batch.
#[test]
fn keeps_state_between_calls() {
    attack(guest!(), IMPATIENT, |attack| {
        for _ in 0..3 {
            assert_eq!(attack.subject("count"), "1");
            traps(attack.check_task_of("trap"), "unreachable");
        }
        fails(attack.check_task_of("spin"), "plugin-deadline");
        assert_eq!(attack.subject("count"), "1");
        assert_eq!(attack.first_accepted(2).unwrap(), None);
        assert_eq!(attack.first_accepted(2).unwrap(), None);
        traps(attack.first_accepted(3), "unreachable");
        assert_eq!(attack.first_accepted(2).unwrap(), None);
    });
}

#[test]
fn changes_its_subject() {
    attack(guest!(), STANDARD, |attack| {
        let first = attack.subject("attack");
        for _ in 0..3 {
            assert_eq!(attack.subject("attack"), first);
        }
    });
}

#[test]
fn changes_its_operation_key() {
    attack(guest!(), STANDARD, |attack| {
        let first = attack.operation_key("add").unwrap();
        assert!(first.is_some());
        for _ in 0..3 {
            assert_eq!(attack.operation_key("add").unwrap(), first);
        }
    });
}
