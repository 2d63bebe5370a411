//! Guests that take more time than they have, or wait for what never comes (`tests/hostile/guests`).

use wharf_tests::{
    guest,
    hostile::{FEW_CALLS, IMPATIENT, SIGNAL, STANDARD, attack, fails, is_refused},
};

/// T1: on the caller's own thread.
#[test]
fn spins_in_check_task() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.check_task(), "plugin-deadline");
    });
}

#[test]
fn spins_in_check_plan() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.check_plan(), "plugin-deadline");
        // The first of many takes its own time, not that of all.
        fails(attack.first_accepted(1000), "plugin-deadline");
    });
}

/// T1: under the database's write lock.
#[test]
fn spins_in_a_transaction_after_a_write() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.perform("add"), "plugin-deadline");
        attack.lock_is_free();
    });
}

#[test]
fn spins_in_a_start_function() {
    is_refused(guest!(), IMPATIENT, "plugin-deadline");
}

#[test]
fn spins_in_a_static_initialiser() {
    is_refused(guest!(), IMPATIENT, "plugin-deadline");
}

#[test]
fn spins_in_its_allocator() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.check_task_of(SIGNAL), "plugin-deadline");
        fails(attack.snapshot_of(SIGNAL), "plugin-deadline");
        fails(attack.perform_of(SIGNAL, "add"), "plugin-deadline");
    });
}

#[test]
fn spins_after_its_answer() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.check_task(), "plugin-deadline");
    });
}

/// The database's own limit of 2 seconds for the statements of a call comes first.
#[test]
fn spins_in_the_database() {
    attack(guest!(), STANDARD, |attack| {
        fails(attack.snapshot(), "plugin-deadline");
    });
}

#[test]
fn sleeps_for_ever() {
    attack(guest!(), STANDARD, |attack| {
        assert_eq!(attack.subject("attack"), "slept true");
    });
}

#[test]
fn polls_for_ever() {
    attack(guest!(), FEW_CALLS, |attack| {
        fails(attack.check_task(), "plugin-host-call-limit");
    });
}

#[test]
fn waits_for_the_next_year() {
    attack(guest!(), FEW_CALLS, |attack| {
        fails(attack.check_task(), "plugin-host-call-limit");
    });
}

#[test]
fn waits_on_shared_memory() {
    is_refused(guest!(), IMPATIENT, "plugin-not-compilable");
}
