//! Tasks at once in one process, whose commits share syncs, stopped anywhere: none is lost, none happens twice, and none was
//! acknowledged that is not finished. `wharf_tests::many_at_once` says what is compared.

use wharf_tests::{many_at_once::Many, skipped, trace, trace::Syncs};

const LOGS: [&str; 2] = ["memory.sqlite-wal", "business.sqlite-wal"];

fn many(tasks: usize) -> Option<Many> {
    if !trace::is_possible() {
        skipped("this machine does not let a process trace its child");
        return None;
    }
    Some(Many::new(env!("CARGO_BIN_EXE_many-at-once"), tasks))
}

/// Some have been acknowledged at most moments, and some have not.
#[test]
fn tasks_at_once_survive_a_kill_anywhere() {
    const MOMENTS: usize = 60;
    let Some(many) = many(6) else { return };
    let covered = many
        .record(Syncs::Slow)
        .killed_anywhere(MOMENTS)
        .unwrap();
    println!("{covered:?}");
}

#[test]
fn tasks_at_once_survive_a_power_loss_anywhere() {
    let Some(many) = many(6) else { return };
    for syncs in [Syncs::Slow, Syncs::AsTheyDo] {
        let covered = many.record(syncs).power_lost_anywhere(8, 1).unwrap();
        println!("{syncs:?}: {covered:?}");
    }
}

#[test]
fn with_a_disk_that_lies_about_syncs_the_power_losses_find_an_acknowledged_task_that_is_gone() {
    let Some(many) = many(4) else { return };
    for log in LOGS {
        let recorded = many.record(Syncs::Slow).without_syncs_of(log);
        let found = recorded.power_lost_anywhere(1, 0).unwrap_err();
        println!("{log}: {found}");
    }
}

#[test]
fn a_task_that_is_acknowledged_before_its_sync_is_found() {
    let Some(many) = many(4) else { return };
    let recorded = many
        .record(Syncs::Slow)
        .acknowledging_before_sync_of("business.sqlite-wal");
    let found = recorded.power_lost_anywhere(1, 0).unwrap_err();
    println!("{found}");
}

#[test]
fn tasks_at_once_share_the_syncs_of_their_logs() {
    let Some(many) = many(6) else { return };
    for syncs in [Syncs::Slow, Syncs::AsTheyDo] {
        let recorded = many.record(syncs);
        for log in LOGS {
            let (commits, syncs) = (recorded.commits_to(log), recorded.syncs_of(log));
            println!("{log}: {commits} {syncs}");
        }
    }
}
