//! The two databases at their worst: tables that are gone, pages that are damaged, a disk without room. Each ends in a typed error,
//! and once it is mended the same task ends as if nothing had happened.

use std::{collections::BTreeSet, fs};

use wharf_tests::{
    Ran, Workspace,
    demo::{self, TASK},
    halfway::{EFFECTS, HALFWAY, assert_goes_on},
    small_disk::SmallDisk,
    wharf,
};

/// The databases, and the tables of each that are the host's own.
const DATABASES: [(&str, &[&str]); 2] = [
    (
        "business.sqlite",
        &[
            "wharf_anchors",
            "wharf_barrier",
            "wharf_ledger",
            "wharf_migrations",
            "wharf_plugin_migrations",
            "wharf_seeds",
            "wharf_tables",
            "wharf_workspace",
        ],
    ),
    (
        "memory.sqlite",
        &[
            "journal",
            "memories",
            "memory_categories",
            "memory_words",
            "wharf_barrier",
            "wharf_migrations",
            "wharf_removed",
        ],
    ),
];

/// It ended with one of these errors, or as if nothing had happened.
#[track_caller]
fn assert_typed(ran: &Ran, codes: &[&str], what: &str) -> bool {
    if ran.code == Some(0) {
        return false;
    }
    let told = |code: &&str| ran.stderr.contains(&format!("error[{code}]: "));
    assert!(codes.iter().any(told), "{what}: {ran:?}");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{what}: {ran:?}");
    let fix = ran.stderr.lines().last().unwrap();
    assert!(fix.starts_with("  fix: "), "{what}: {ran:?}");
    true
}

/// S4: a table that is gone. It had been found out only when a statement failed; a task could be completed without the tables
/// of its plugin's migrations, and a database without `wharf_migrations` was taken for another program's.
#[test]
fn a_table_that_is_missing_is_named_and_the_task_goes_on_once_it_is_back() {
    for (database, tables) in DATABASES {
        let there: Vec<_> = {
            let workspace = HALFWAY.copy();
            let connection = workspace.open(database);
            // Not those that belong to the index.
            let sql = "SELECT name FROM pragma_table_list WHERE type IN ('table', 'virtual')
                       AND (name LIKE 'wharf%' OR name LIKE 'memor%' OR name = 'journal') ORDER BY name";
            let mut rows = connection.prepare(sql).unwrap();
            let rows = rows.query_map((), |row| row.get::<_, String>(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        assert_eq!(there, tables);
        for table in tables {
            let workspace = HALFWAY.copy();
            let records = workspace.journal(TASK);
            let path = workspace.path().join(database);
            let right = fs::read(&path).unwrap();
            workspace
                .open_for_tampering(database)
                .execute_batch(&format!("ALTER TABLE {table} RENAME TO gone"))
                .unwrap();
            for command in ["resume", "audit", "status"] {
                let ran = wharf(command).dir(workspace.path()).run();
                if command == "status" && database == "business.sqlite" {
                    // It tells what the journal knows.
                    let _ = ran.exits(0);
                    continue;
                }
                let [what, ..] = ran.refusal(1, "table-missing");
                let named = format!("lacks the table {table}");
                assert!(what.ends_with(&named), "{database}, {table}: {what}");
            }
            fs::write(&path, right).unwrap();
            assert_eq!(workspace.journal(TASK), records);
            assert_goes_on(&workspace);
        }
    }
}

/// A plugin that is told that its own table is not there may take that for a refusal, which ends the task for good: it is not
/// asked.
#[test]
fn a_table_of_the_plugin_that_is_missing_does_not_end_the_task() {
    for table in ["inventory", "orders", "rates"] {
        let workspace = HALFWAY.copy();
        let path = workspace.path().join("business.sqlite");
        let right = fs::read(&path).unwrap();
        workspace
            .open_for_tampering("business.sqlite")
            .execute_batch(&format!("DROP TABLE {table}"))
            .unwrap();
        let [what, ..] = wharf("resume")
            .dir(workspace.path())
            .run()
            .refusal(1, "table-missing");
        assert!(
            what.ends_with(&format!("lacks the table {table}")),
            "{what}"
        );
        let audit = wharf("audit").dir(workspace.path()).json().run().exits(1);
        let findings = audit.document()["tasks"][0]["findings"].clone();
        assert_eq!(findings.as_array().map(Vec::len), Some(1), "{findings}");
        assert_eq!(findings[0]["code"], "table-missing");
        assert_eq!(findings[0]["place"], "business.sqlite");
        assert!(findings[0]["message"].as_str().unwrap().contains(table));
        fs::write(&path, right).unwrap();
        assert_goes_on(&workspace);
    }
}

/// S4: each page in turn is overwritten. SQLite finds it when it comes to it, which may be after an effect; what it does not come
/// to does not matter.
#[test]
fn a_damaged_page_anywhere_is_found_before_it_is_relied_on() {
    const PAGE: usize = 4096;
    let outcome = |workspace: &Workspace| {
        let report = workspace.report(TASK);
        ["plans", "completed", "changes", "result", "usage"].map(|member| {
            let mut member = report[member].clone();
            if let Some(usage) = member.as_object_mut() {
                usage.remove("startedAt");
            }
            member
        })
    };
    let whole = HALFWAY.copy();
    assert_goes_on(&whole);
    for (database, _) in DATABASES {
        let right = fs::read(HALFWAY.path().join(database)).unwrap();
        let mut found = 0;
        for page in 0..right.len() / PAGE {
            let workspace = HALFWAY.copy();
            let path = workspace.path().join(database);
            let mut damaged = right.clone();
            damaged[page * PAGE..][..PAGE].fill(0xa5);
            fs::write(&path, damaged).unwrap();
            let what = format!("{database}, page {page}");
            let codes = ["database-damaged", "database-not-sqlite"];
            let ran = wharf("resume").dir(workspace.path()).run();
            if assert_typed(&ran, &codes, &what) {
                found += 1;
                let audit = wharf("audit").dir(workspace.path()).run();
                assert!(
                    matches!(audit.code, Some(0 | 1)) && !audit.stderr.contains("panicked"),
                    "{what}: {audit:?}"
                );
                // The whole workspace from a backup, as the error advises; what the task's folder has more does no harm.
                for (database, _) in DATABASES {
                    for end in ["-wal", "-shm"] {
                        let _ = fs::remove_file(workspace.path().join(format!("{database}{end}")));
                    }
                    fs::copy(
                        HALFWAY.path().join(database),
                        workspace.path().join(database),
                    )
                    .unwrap();
                }
                assert_goes_on(&workspace);
            } else {
                // Of such a database not even the test may read everything.
                assert_eq!(outcome(&workspace), outcome(&whole), "{what}");
            }
        }
        assert!(found >= 4, "{database}: {found}");
    }
}

/// S4: bytes are flipped where a record stands, which SQLite cannot find.
#[test]
fn bytes_that_were_flipped_in_a_stored_record_are_found() {
    let cases = [
        ("memory.sqlite", "\"reserveAction\":2", "journal-hash"),
        (
            "memory.sqlite",
            "\"pattern\":\"plan-execute",
            "journal-hash",
        ),
        (
            "business.sqlite",
            "{\"state\":\"packed",
            "ledger-row-differs",
        ),
    ];
    for (database, text, code) in cases {
        let workspace = HALFWAY.copy();
        let path = workspace.path().join(database);
        let right = fs::read(&path).unwrap();
        let mut flipped = right.clone();
        let found: Vec<_> = right
            .windows(text.len())
            .enumerate()
            .filter(|(_, bytes)| *bytes == text.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!found.is_empty(), "{database} does not hold {text}");
        // The last character becomes another one, wherever SQLite has it: one of the places may be free already.
        for at in found {
            flipped[at + text.len() - 1] ^= 1;
        }
        fs::write(&path, flipped).unwrap();
        let before = workspace.effects();
        let ran = wharf("resume").dir(workspace.path()).run();
        ran.refusal(1, code);
        assert_eq!(workspace.effects(), before);
        fs::write(&path, right).unwrap();
        assert_goes_on(&workspace);
    }
}

/// S4: a disk that has a little room left, and then a little more, so that each of the writes in turn finds none.
#[test]
fn on_a_full_disk_a_run_ends_wherever_it_is_and_the_task_goes_on_once_there_is_room() {
    let Some(disk) = SmallDisk::mount(2) else {
        return;
    };
    let mut stopped = 0;
    let mut places = BTreeSet::new();
    let mut runs = 0;
    for blocks in (0..144).step_by(3) {
        runs += 1;
        let workspace = HALFWAY.copy_to(Workspace::below(disk.path()));
        disk.leave(blocks);
        let ran = wharf("resume").dir(workspace.path()).run();
        let codes = ["disk-full", "disk-failed"];
        let what = format!("{blocks} blocks");
        stopped += u32::from(assert_typed(&ran, &codes, &what));
        disk.make_room();
        places.insert((workspace.journal(TASK).len(), workspace.ledger().len()));
        assert_goes_on(&workspace);
    }
    let effects: BTreeSet<_> = places.iter().map(|(_, ledger)| ledger).collect();
    assert!(
        stopped > 8 && stopped < runs && places.len() > 3 && effects.len() > 1,
        "{stopped}, {places:?}"
    );
}

/// S4: the same before there is a task.
#[test]
fn a_preparation_that_a_full_disk_ended_can_be_repeated_once_there_is_room() {
    let Some(disk) = SmallDisk::mount(2) else {
        return;
    };
    let mut stopped = 0;
    for blocks in (0..96).step_by(6) {
        let workspace = Workspace::below(disk.path());
        disk.leave(blocks);
        let ran = demo::demo(&workspace, "price-change").run();
        let codes = ["disk-full", "disk-failed"];
        stopped += u32::from(assert_typed(&ran, &codes, &format!("{blocks} blocks")));
        disk.make_room();
        let tasks = wharf::host::tasks(&workspace.path());
        if tasks.is_ok_and(|tasks| !tasks.is_empty()) {
            let _ = wharf("resume").dir(workspace.path()).run().exits(0);
        } else {
            let _ = demo::demo(&workspace, "price-change").run().exits(0);
        }
        assert_eq!(workspace.effects(), *EFFECTS);
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    }
    assert!(stopped > 8, "{stopped}");
}
