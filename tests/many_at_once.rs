//! Tasks at once in one process, whose commits share syncs, stopped anywhere: none is lost, none happens twice, and none was
//! acknowledged that is not finished. `wharf_tests::many_at_once` says what is compared.

use std::path::PathBuf;

use wharf_tests::{
    disk::{self, Disk},
    many_at_once::{Killed, Lost, Many, Recorded},
    skipped,
    trace::{self, Change, Syncs},
};

const LOGS: [&str; 2] = ["memory.sqlite-wal", "business.sqlite-wal"];

/// None: it cannot be watched.
fn many(tasks: usize, at_once: usize) -> Option<Many> {
    if !trace::is_possible() {
        skipped("this machine does not let a process trace its child");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_many-at-once");
    Some(Many::new(program, tasks, at_once))
}

/// A sample: each run is killed at its own moment, and where the syncs of one are slow, those of the next are not.
fn killed_anywhere(many: &Many, moments: usize) {
    let covered = many.record(Syncs::Slow).killed_anywhere(moments).unwrap();
    let Killed {
        kills,
        acknowledged,
        unfinished,
    } = covered;
    assert!(
        kills > moments / 2 && acknowledged > kills / 2 && unfinished > kills,
        "{covered:?}"
    );
}

/// A sample of the moments of a run.
fn power_lost_anywhere(recorded: &Recorded<'_>, stride: usize, seeds: u64) -> Lost {
    let covered = recorded.power_lost_anywhere(stride, seeds).unwrap();
    assert!(
        covered.disks > 30 && covered.acknowledged > covered.disks / 2,
        "{covered:?}"
    );
    covered
}

/// X1: each goes on where it was, whatever the others were doing.
#[test]
fn tasks_at_once_survive_a_kill_anywhere() {
    if let Some(many) = many(8, 5) {
        killed_anywhere(&many, 40);
    }
}

/// X1: and whatever SQLite was doing with the logs.
#[test]
fn tasks_at_once_whose_logs_begin_anew_survive_a_kill_anywhere() {
    if let Some(many) = many(8, 5) {
        killed_anywhere(&many.with_long_logs(), 30);
    }
}

/// X1: as much as possible happens while a sync is in flight.
#[test]
fn tasks_at_once_survive_a_power_loss_anywhere_on_a_slow_disk() {
    let Some(many) = many(8, 5) else { return };
    let covered = power_lost_anywhere(&many.record(Syncs::Slow), 11, 1);
    assert!(covered.in_flight > covered.disks / 2, "{covered:?}");
}

#[test]
fn tasks_at_once_survive_a_power_loss_anywhere_on_a_fast_disk() {
    let Some(many) = many(8, 5) else { return };
    power_lost_anywhere(&many.record(Syncs::AsTheyDo), 17, 1);
}

#[test]
fn tasks_at_once_whose_logs_begin_anew_survive_a_power_loss_anywhere() {
    let Some(many) = many(8, 5) else { return };
    let many = many.with_long_logs();
    let recorded = many.record(Syncs::Slow);
    for log in LOGS {
        assert!(recorded.beginnings_of(log) > 0, "{log} does not begin anew");
    }
    power_lost_anywhere(&recorded, 11, 1);
}

/// X6: the proof that a loss would be noticed.
#[test]
fn with_a_disk_that_lies_about_syncs_the_power_losses_of_tasks_at_once_find_it() {
    let Some(many) = many(4, 4) else { return };
    for log in LOGS {
        let recorded = many.record(Syncs::Slow).without_syncs_of(log);
        let found = recorded.power_lost_at_acknowledgements().unwrap_err();
        assert!(found.contains("was acknowledged, and"), "{log}: {found}");
    }
}

/// The mistake that sharing a sync invites: it began before the commit.
#[test]
fn whoever_takes_a_sync_in_flight_for_its_own_is_found() {
    let Some(many) = many(4, 4) else { return };
    for log in LOGS {
        let recorded = many.record(Syncs::Slow);
        let recorded = recorded.with_syncs_asked_for_too_early(log);
        let found = recorded.power_lost_at_acknowledgements().unwrap_err();
        assert!(found.contains("was acknowledged, and"), "{log}: {found}");
    }
}

#[test]
fn a_task_that_is_acknowledged_before_its_sync_is_found() {
    let Some(many) = many(4, 4) else { return };
    let recorded = many.record(Syncs::Slow);
    recorded.power_lost_at_acknowledgements().unwrap();
    let recorded = recorded.acknowledging_before_sync_of("business.sqlite-wal");
    let found = recorded.power_lost_at_acknowledgements().unwrap_err();
    assert!(found.contains("was acknowledged, and"), "{found}");
}

/// Where a sync takes longer than the others need to come to theirs, none of them makes one of its own.
#[test]
fn tasks_at_once_share_the_syncs_of_their_logs() {
    let Some(many) = many(8, 8) else { return };
    let recorded = many.record(Syncs::Slow);
    let [business, memory] = ["business.sqlite-wal", "memory.sqlite-wal"]
        .map(|log| (recorded.commits_to(log), recorded.syncs_of(log)));
    // Each task has four operations, each a transaction of its own, and seven appends, which share theirs as well.
    let (commits, syncs) = business;
    assert!(commits >= 8 * 4 && syncs < commits, "{business:?}");
    let (commits, syncs) = memory;
    assert!(commits < 8 * 7 && syncs < 8 * 7, "{memory:?}");
}

#[test]
fn what_is_changed_while_a_sync_runs_is_not_made_durable_by_it() {
    let path = PathBuf::from("log");
    let write = |at: u64| Change::Write {
        path: path.clone(),
        at,
        bytes: vec![7],
    };
    let folder = Change::Sync {
        path: PathBuf::new(),
        covers: 1,
    };
    let log = Change::Sync {
        path: path.clone(),
        covers: 3,
    };
    let mut disk = Disk::empty();
    for change in [
        Change::Create(path.clone()),
        folder,
        write(0),
        // Asked for here, and returned from after one more.
        write(1),
        log,
    ] {
        disk.apply(&change);
    }
    let left = |disk: &Disk| disk.after_power_loss(&mut disk::all)[&path].clone();
    assert_eq!(left(&disk), Some(vec![7]));
    disk.apply(&Change::Sync {
        path: path.clone(),
        covers: 5,
    });
    assert_eq!(left(&disk), Some(vec![7, 7]));
}
