//! Guests that break the rules below the contract: of the machine, and of the canonical ABI (`tests/hostile/guests`).

use wharf::Kind;
use wharf_tests::{
    guest,
    hostile::{SIGNAL, STANDARD, attack, fails, is_refused, traps},
};

/// Without a word.
#[test]
fn executes_unreachable() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "unreachable");
    });
}

#[test]
fn reads_out_of_bounds() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "out of bounds memory access");
    });
}

#[test]
fn divides_by_zero() {
    let error = is_refused(guest!(), STANDARD, "plugin-trap");
    assert!(error.why().contains("integer divide by zero"), "{error:?}");
}

#[test]
fn throws_an_exception() {
    is_refused(guest!(), STANDARD, "plugin-not-compilable");
}

#[test]
fn calls_through_a_wrong_type() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "indirect call type mismatch");
    });
}

#[test]
fn calls_beyond_its_table() {
    attack(guest!(), STANDARD, |attack| {
        traps(
            attack.check_task(),
            "undefined element: out of bounds table access",
        );
    });
}

#[test]
fn answers_an_unheard_of_case() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "discriminant");
    });
}

#[test]
fn answers_a_misaligned_pointer() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "aligned");
    });
}

#[test]
fn answers_beyond_its_memory() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "out of bounds");
    });
}

#[test]
fn traps_after_its_answer() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "unreachable");
    });
}

#[test]
fn calls_the_host_after_its_answer() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "cannot leave component instance");
    });
}

#[test]
fn calls_the_host_from_its_allocator() {
    attack(guest!(), STANDARD, |attack| {
        traps(
            attack.check_task_of(SIGNAL),
            "cannot leave component instance",
        );
        traps(
            attack.perform_of(SIGNAL, "add"),
            "cannot leave component instance",
        );
    });
}

#[test]
fn allocates_beyond_its_memory() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task_of(SIGNAL), "beyond end of memory");
    });
}

#[test]
fn allocates_misaligned() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.conclude_of(SIGNAL), "aligned");
    });
}

#[test]
fn forges_a_handle() {
    attack(guest!(), STANDARD, |attack| {
        for number in ["0", "1", "2", "7", "1000", "4294967295"] {
            traps(attack.check_task_of(number), "handle index");
        }
        for beyond in ["1", "2", "100", "1000000"] {
            traps(attack.snapshot_of(beyond), "handle index");
        }
    });
}

#[test]
fn takes_a_stream_for_a_transaction() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.snapshot(), "handle index");
    });
}

#[test]
fn uses_a_dropped_transaction() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.perform("add"), "unknown handle index");
    });
}

/// The call that keeps it fails, and so does one that uses what was kept.
#[test]
fn keeps_the_transaction() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.perform("add"), "borrow");
        traps(attack.check_task(), "unknown handle index");
    });
}

#[test]
fn exits_with_success() {
    attack(guest!(), STANDARD, |attack| {
        let error = fails(attack.perform("add"), "plugin-exit");
        assert!(error.to_string().contains("status 0"), "{error}");
    });
}

/// E1, E2: plugin, digest, function, text, where it was and what to do; and the next call works.
#[test]
fn panics_with_text() {
    attack(guest!(), STANDARD, |attack| {
        let error = fails(attack.perform("add"), "plugin-panic");
        let digest = attack.plugin.digest().to_string();
        let what = format!(
            "the plugin hostile ({}) failed in perform: it panicked",
            &digest[..12]
        );
        assert_eq!((error.to_string(), error.kind()), (what, Kind::PluginFault));
        let why = error.why();
        for part in [
            "panicked at guests/panics_with_text.rs:",
            "the shelf is not where it was",
            "panics_with_text::panic_here",
        ] {
            assert!(why.contains(part), "{part}: {why}");
        }
        assert!(error.hint().contains("author"), "{}", error.hint());
    });
}

#[test]
fn panics_with_a_long_text() {
    attack(guest!(), STANDARD, |attack| {
        let error = fails(attack.check_task(), "plugin-panic");
        assert!(error.why().contains("it begins so: xxx"), "{error:?}");
    });
}

#[test]
fn panics_while_it_panics() {
    attack(guest!(), STANDARD, |attack| {
        fails(attack.check_task(), "plugin-panic");
    });
}
