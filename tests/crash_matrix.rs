//! Stopped anywhere, by a kill or by a power loss, a task goes on as if nothing had happened.

use wharf_tests::{crash_matrix::Case, demo::SCENARIOS};

#[test]
fn a_task_that_is_killed_anywhere_goes_on_as_if_nothing_had_happened() {
    for scenario in SCENARIOS {
        let case = Case::demo(scenario);
        let started = std::time::Instant::now();
        let covered = case.clean().crash_matrix();
        println!("{scenario}: {covered:?} {:?}", started.elapsed());
    }
}

#[test]
fn a_task_whose_machine_loses_power_at_any_sync_goes_on_as_if_nothing_had_happened() {
    for scenario in SCENARIOS {
        let case = Case::demo(scenario);
        let started = std::time::Instant::now();
        let covered = case.clean().power_loss_matrix(2);
        println!("{scenario}: {covered:?} {:?}", started.elapsed());
    }
}
