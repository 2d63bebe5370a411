//! Stopped anywhere, by a kill or by a power loss, a task goes on as if nothing had happened: X1, X5, B1 and B2 of the
//! failure cases, and the proof that the check would notice (X6).
//!
//! The real program, its real files: `wharf_tests::crash_matrix` says what is compared.

use std::fs;

use serde_json::{Value, json};
use wharf_tests::{
    Workspace, built,
    crash_matrix::{Case, Covered, PowerLosses},
    probe, root, sha256, skipped, trace,
};

/// Disks at each sync on which some of the unsynced changes are lost; one more, on which all are, goes without saying.
const SEEDS: u64 = 2;

fn can_trace() -> bool {
    let possible = trace::is_possible();
    if !possible {
        skipped("this machine does not let a process trace its child");
    }
    possible
}

fn killed_anywhere(case: &Case) {
    if !can_trace() {
        return;
    }
    let Covered { changes, kills } = case.clean().crash_matrix();
    assert!(
        changes > 150 && kills > 80,
        "{changes} changes, {kills} kills"
    );
}

fn power_lost_anywhere(case: &Case) {
    if !can_trace() {
        return;
    }
    let PowerLosses { syncs, disks } = case.clean().power_loss_matrix(SEEDS).unwrap();
    assert!(
        syncs > 30 && disks as u64 == syncs as u64 * (SEEDS + 1),
        "{syncs} syncs, {disks} disks"
    );
}

macro_rules! matrix {
    ($($killed:ident, $power:ident: $case:expr;)*) => {$(
        #[test]
        fn $killed() {
            killed_anywhere(&$case);
        }

        #[test]
        fn $power() {
            power_lost_anywhere(&$case);
        }
    )*};
}

matrix! {
    a_stable_task_survives_a_kill_anywhere, a_stable_task_survives_a_power_loss_anywhere: Case::demo("stable");
    an_escalated_task_survives_a_kill_anywhere, an_escalated_task_survives_a_power_loss_anywhere: Case::demo("unavailable");
    a_task_without_effects_survives_a_kill_anywhere, a_task_without_effects_survives_a_power_loss_anywhere: Case::demo("no-stock");
    a_task_that_lost_a_response_survives_a_kill_anywhere, a_task_that_lost_a_response_survives_a_power_loss_anywhere: Case::demo("lost-response");
    a_task_of_the_second_domain_survives_a_kill_anywhere, a_task_of_the_second_domain_survives_a_power_loss_anywhere: retail();
}

/// X1, X5, B1, B2: at every change of the workspace. Effects, report and counters are compared with those of a run that nobody
/// disturbed; a counter may be higher by a call for each kill, and never exceeds its limit.
#[test]
fn a_replanned_task_survives_a_kill_anywhere() {
    killed_anywhere(&Case::demo("price-change"));
}

/// A power loss may take its outputs then, and nothing else: they are written again.
#[test]
fn a_task_whose_outputs_are_unsynced_survives_a_power_loss_anywhere() {
    if !can_trace() {
        return;
    }
    let case = Case::demo_with_unsynced_outputs("stable");
    let clean = case.clean();
    let PowerLosses { syncs, .. } = clean.power_loss_matrix(SEEDS).unwrap();
    let case = Case::demo("stable");
    let with_outputs = case.clean().power_loss_matrix(0).unwrap().syncs;
    assert_eq!(
        syncs,
        with_outputs - 6,
        "those of the outputs and their folders"
    );
}

/// X1: at every sync, with the changes since the last one lost, all or some.
#[test]
fn a_replanned_task_survives_a_power_loss_anywhere() {
    power_lost_anywhere(&Case::demo("price-change"));
}

/// Reads, changes and refusals with arguments, on the small shop of the plugin's own tests.
fn retail() -> Case {
    let component = built::plugin("retail");
    let digest = sha256(&fs::read(&component).unwrap());
    let request = json!({
        "id": "support", "tenant": "shop", "principal": "agent", "goal": "Cancel the one, look at the other.",
        "plugin": {"name": "retail", "version": "0.1.0", "digest": digest},
        "budgets": {"maxPlans": 2, "maxActions": 8, "deadlineSeconds": 3600},
        "input": {"userId": "mei"},
    });
    let cancel = json!({"order_id": "#W1", "reason": "no longer needed"});
    let steps = [
        ("get_order_details", json!({"order_id": "#W1"})),
        ("cancel_pending_order", cancel),
        (
            "cancel_pending_order",
            json!({"order_id": "#W2", "reason": "ordered by mistake"}),
        ),
        (
            "return_delivered_order_items",
            json!({"order_id": "#W2", "item_ids": ["12"], "payment_method_id": "paypal_1"}),
        ),
    ];
    let plan = chain("answered", &steps);
    let seed = fs::read_to_string(root().join("plugins/retail/src/fixture.sql")).unwrap();
    Case::scripted(component, request, plan, Some(seed))
}

/// A plugin that never asks whether it has done its one operation before: each call adds a row.
fn unguarded() -> Case {
    let goal = "execute:INSERT INTO things SELECT 'n' || count(*) FROM things";
    Case::scripted(
        probe::component(),
        probe::request(goal),
        probe::plan("change"),
        None,
    )
}

fn chain(expected: &str, steps: &[(&str, Value)]) -> Value {
    let steps: Vec<_> = (1..)
        .zip(steps)
        .map(|(number, (tool, arguments))| {
            let before = (number > 1).then(|| format!("s{}", number - 1));
            json!({
                "id": format!("s{number}"), "tool": tool, "dependsOn": Vec::from_iter(before), "expected": expected,
                "arguments": arguments,
            })
        })
        .collect();
    json!({"goal": "The steps.", "status": "ready", "reason": "Asked for.", "steps": steps})
}

/// X6: what the ledger knows beyond the journal is what a look into it would find after a kill. Without it the operation
/// happens twice, nothing fails, and only the count of its rows tells.
#[test]
fn without_the_ledger_the_matrix_finds_a_doubled_effect() {
    if !can_trace() {
        return;
    }
    let case = unguarded();
    let clean = case.clean();
    let _ = clean.crash_matrix();
    let forget = |workspace: &Workspace| {
        if !workspace.path().join("memory.sqlite").exists() {
            return;
        }
        let journal = workspace.open_for_tampering("memory.sqlite");
        let last = journal.query_row("SELECT max(sequence) FROM journal", (), |row| row.get(0));
        if let Ok(Some(last)) = last {
            let last: i64 = last;
            let business = workspace.open_for_tampering("business.sqlite");
            business
                .execute("DELETE FROM wharf_ledger WHERE sequence >= ?1", [last])
                .unwrap();
        }
    };
    let found = clean.crash_matrix_with(&forget).unwrap_err();
    assert!(found.contains("the effects are"), "{found}");
    assert!(found.contains("things|n1"), "{found}");
}

/// A disk that says it has synced the journal and has not: what was acknowledged is gone, or an effect is there twice.
#[test]
fn with_a_disk_that_lies_about_syncs_the_power_loss_matrix_finds_it() {
    if !can_trace() {
        return;
    }
    let case = unguarded();
    for lied_about in ["memory.sqlite-wal", "business.sqlite-wal"] {
        let clean = case.clean().without_syncs_of(lied_about);
        assert!(clean.power_loss_matrix(0).is_err(), "{lied_about}");
    }
}
