//! Guests that use up memory, stack, tables, handles or calls, or make the host use up its own (`tests/hostile/guests`).

use wharf::plugin::PluginLimits;
use wharf_tests::{
    guest,
    hostile::{
        FEW_CALLS, STANDARD, attack, attack_alone, fails, is_refused, is_refused_alone, load,
        traps, violates,
    },
};

/// M1: the message names what was asked for and the limit.
#[test]
fn allocates_all_memory() {
    attack_alone(guest!(), STANDARD, |attack| {
        let error = fails(attack.check_task(), "plugin-memory-limit").to_string();
        assert!(error.contains("67108864 are allowed"), "{error}");
    });
}

/// M1: page by page.
#[test]
fn grows_its_memory_bit_by_bit() {
    attack_alone(guest!(), STANDARD, |attack| {
        let error = fails(attack.check_task(), "plugin-memory-limit").to_string();
        let asked = (64 << 20) + 65_536;
        assert!(
            error.contains(&format!("asked for {asked} bytes")),
            "{error}"
        );
    });
}

/// M1: two memories of one sandbox count together; it is the limit, and nothing else about it.
#[test]
fn has_two_memories() {
    let named = guest!();
    let error = is_refused(named, STANDARD, "plugin-memory-limit").to_string();
    assert!(error.contains("67108864 are allowed"), "{error}");
    let wide = PluginLimits {
        memory_bytes: (128 << 20).try_into().unwrap(),
        ..STANDARD
    };
    load(named.guest(), wide).unwrap();
}

#[test]
fn grows_a_table() {
    is_refused_alone(guest!(), STANDARD, "plugin-table-limit");
}

#[test]
fn overflows_its_stack() {
    attack(guest!(), STANDARD, |attack| {
        fails(attack.check_task(), "plugin-stack-overflow");
    });
}

#[test]
fn overflows_its_shadow_stack() {
    attack(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "out of bounds memory access");
    });
}

#[test]
fn leaks_handles() {
    attack_alone(guest!(), STANDARD, |attack| {
        fails(attack.check_task(), "plugin-handle-limit");
    });
}

/// M2: a text.
#[test]
fn answers_a_huge_string() {
    attack_alone(guest!(), STANDARD, |attack| {
        fails(attack.check_task(), "plugin-host-buffer-limit");
    });
}

/// M2: many empty records.
#[test]
fn answers_a_million_violations() {
    attack_alone(guest!(), STANDARD, |attack| {
        fails(attack.check_task(), "plugin-host-buffer-limit");
    });
}

/// M2: little that is copied often.
#[test]
fn answers_one_buffer_many_times() {
    attack_alone(guest!(), STANDARD, |attack| {
        fails(attack.check_task(), "plugin-host-buffer-limit");
    });
}

#[test]
fn claims_a_string_of_a_gigabyte() {
    attack_alone(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "out of bounds");
    });
}

#[test]
fn answers_with_a_list_of_no_end() {
    attack_alone(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "out of bounds");
    });
}

#[test]
fn passes_a_huge_statement() {
    attack_alone(guest!(), STANDARD, |attack| {
        fails(attack.snapshot(), "plugin-host-buffer-limit");
    });
}

/// M2: parameters of a statement.
#[test]
fn passes_a_hundred_thousand_parameters() {
    attack_alone(guest!(), STANDARD, |attack| {
        fails(attack.snapshot(), "plugin-host-buffer-limit");
    });
}

/// None of the hundred answers fits into what a call may get.
#[test]
fn reads_rows_without_end() {
    attack_alone(guest!(), STANDARD, |attack| {
        let snapshot = attack.snapshot().unwrap().unwrap();
        assert_eq!(snapshot.as_str(), r#"{"answers":0,"limits":100}"#);
    });
}

#[test]
fn floods_the_host_with_calls() {
    attack_alone(guest!(), FEW_CALLS, |attack| {
        fails(attack.snapshot(), "plugin-host-call-limit");
    });
}

#[test]
fn asks_for_endless_random_bytes() {
    attack_alone(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "random bytes");
    });
}

#[test]
fn writes_endless_zeroes() {
    attack_alone(guest!(), STANDARD, |attack| {
        traps(attack.check_task(), "more was written than");
    });
}

/// M2: deeply nested JSON.
#[test]
fn nests_its_snapshot_deeply() {
    attack_alone(guest!(), STANDARD, |attack| {
        let why = violates(attack.snapshot());
        assert!(why.contains("deep"), "{why}");
    });
}
