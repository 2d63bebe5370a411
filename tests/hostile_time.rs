//! Guests that take more time than they have (`tests/hostile/guests`).

use wharf_tests::{
    guest,
    hostile::{IMPATIENT, attack, fails, is_refused},
};

/// T1: on the caller's own thread.
#[test]
fn spins_in_check_task() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.check_task(), "plugin-deadline");
    });
}

#[test]
fn spins_in_a_transaction_after_a_write() {
    attack(guest!(), IMPATIENT, |attack| {
        fails(attack.perform("add"), "plugin-deadline");
    });
}

#[test]
fn spins_in_a_start_function() {
    is_refused(guest!(), IMPATIENT, "plugin-deadline");
}
