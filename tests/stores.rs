//! Stores that are missing, damaged, locked, full or out of reach: a typed error, what was committed stays, and the task goes on
//! once they are mended.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use wharf::host;
use wharf_tests::{
    Wharf, Workspace,
    demo::{self, TASK},
    halfway::{EFFECTS, HALFWAY, assert_goes_on},
    unprivileged::{self, Mode},
    wharf,
};

const DATABASES: [&str; 2] = ["business.sqlite", "memory.sqlite"];

/// A database whose file is not what it should be.
fn damage(path: &Path, how: &str) {
    match how {
        "missing" => fs::remove_file(path).unwrap(),
        "a folder" => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        "empty" => fs::write(path, "").unwrap(),
        "no database" => fs::write(path, "This is no database. ".repeat(500)).unwrap(),
        "damaged pages" => {
            let mut bytes = fs::read(path).unwrap();
            bytes[4096..].fill(0xa5);
            fs::write(path, bytes).unwrap();
        }
        "another program's" => {
            fs::remove_file(path).unwrap();
            let connection = Connection::open(path).unwrap();
            connection
                .execute_batch("CREATE TABLE theirs (it TEXT)")
                .unwrap();
        }
        "a newer schema" => {
            let connection = Connection::open(path).unwrap();
            let sql = "INSERT INTO wharf_migrations VALUES (99, 'later', '', '')";
            connection.execute_batch(sql).unwrap();
        }
        other => panic!("{other}"),
    }
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    path.is_file().then(|| fs::read(path).unwrap())
}

/// S3, S4: a newer schema, another program's database, no database at all.
#[test]
fn a_database_that_is_not_what_it_should_be_is_refused_untouched_and_the_task_goes_on_with_the_right_one()
 {
    let cases = [
        ("missing", "database-missing", 1),
        ("a folder", "database-cannot-open", 1),
        ("empty", "no-tenant", 1),
        ("no database", "database-not-sqlite", 1),
        ("damaged pages", "database-damaged", 1),
        ("another program's", "database-foreign", 2),
        ("a newer schema", "schema-newer", 1),
    ];
    for database in DATABASES {
        for (how, code, exit) in cases {
            let (code, exit) = match (database, how) {
                // Without its journal it is no workspace.
                ("memory.sqlite", "missing") => ("no-task", 2),
                // The other database knows that there was a task.
                ("memory.sqlite", "empty") => ("journal-cut", 1),
                _ => (code, exit),
            };
            let workspace = HALFWAY.copy();
            let path = workspace.path().join(database);
            let right = fs::read(&path).unwrap();
            damage(&path, how);
            let damaged = bytes(&path);
            let what = format!("{database}, {how}");
            let resume = wharf("resume").dir(workspace.path()).args(["--task", TASK]);
            let ran = resume.run();
            assert_eq!(ran.code, Some(exit), "{what}: {ran:?}");
            ran.refusal(exit, code);
            if how != "empty" {
                assert_eq!(bytes(&path), damaged, "{what}");
            }
            let audit = wharf("audit").dir(workspace.path()).run();
            assert!(matches!(audit.code, Some(1 | 2)), "{what}: {audit:?}");
            let status = wharf("status").dir(workspace.path()).run();
            if database == "memory.sqlite" {
                assert!(matches!(status.code, Some(1 | 2)), "{what}: {status:?}");
                assert!(status.stderr.starts_with("error["), "{what}: {status:?}");
            } else {
                assert_eq!(status.code, Some(0), "{what}: {status:?}");
            }
            if path.is_dir() {
                fs::remove_dir(&path).unwrap();
            }
            fs::write(&path, right).unwrap();
            assert_goes_on(&workspace);
        }
    }
}

/// Memory unavailable: so long as another process holds it.
#[test]
fn a_database_that_another_process_holds_is_waited_for_and_then_given_up() {
    for database in DATABASES {
        let workspace = HALFWAY.copy();
        let before = workspace.standing();
        let other = workspace.open_for_tampering(database);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        wharf("resume")
            .dir(workspace.path())
            .run()
            .refusal(1, "database-locked");
        // Looking waits for nobody.
        let _ = wharf("status").dir(workspace.path()).run().exits(0);
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);
        other.execute_batch("ROLLBACK").unwrap();
        drop(other);
        assert_eq!(workspace.standing(), before);
        assert_goes_on(&workspace);
    }
}

/// S4: permission denied, read-only files and folders.
#[test]
fn what_this_user_may_not_read_or_write_is_told_and_the_task_goes_on_once_it_may() {
    let task = Path::new("tasks").join(TASK);
    let cases: [(PathBuf, u32, &[&str]); 8] = [
        ("business.sqlite".into(), 0o000, &["database-cannot-open"]),
        ("memory.sqlite".into(), 0o000, &["database-cannot-open"]),
        ("business.sqlite".into(), 0o444, &["database-read-only"]),
        ("memory.sqlite".into(), 0o444, &["database-read-only"]),
        // SQLite cannot put its log beside the database.
        (
            "".into(),
            0o555,
            &["database-cannot-open", "database-read-only"],
        ),
        (task.clone(), 0o000, &["file-permission"]),
        // The step's evidence cannot be kept, after its effect was committed.
        (task.join("evidence"), 0o555, &["file-permission"]),
        (task.join(".lock"), 0o444, &["file-permission"]),
    ];
    for (path, mode, codes) in cases {
        let workspace = HALFWAY.copy();
        unprivileged::hand_over(&workspace);
        let path = workspace.path().join(path);
        let ledger = workspace.ledger();
        let forbidden = Mode::set(&path, mode);
        let ran = unprivileged::run("resume", &workspace);
        assert!(
            codes
                .iter()
                .any(|code| ran.stderr.contains(&format!("error[{code}]: "))),
            "{}, {mode:o}: {ran:?}",
            path.display()
        );
        assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{ran:?}");
        drop(forbidden);
        assert!(workspace.ledger().starts_with(&ledger));
        let ran = unprivileged::run("resume", &workspace);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(workspace.effects(), *EFFECTS);
    }
}

/// The operating system lets no file grow past so many blocks of 512 bytes: what is written first, and what is written later,
/// finds the disk full in turn.
fn with_largest_file(blocks: u32, run: Wharf) -> Wharf {
    let run = run.into_command();
    let mut limited = std::process::Command::new("sh");
    // Without the signal, writing fails as it does on a full disk.
    let script = format!(r#"ulimit -f {blocks} && trap "" XFSZ && exec "$0" "$@""#);
    limited
        .arg("-c")
        .arg(script)
        .arg(run.get_program())
        .args(run.get_args());
    limited.env_clear();
    for (name, value) in run.get_envs() {
        limited.envs(value.map(|value| (name, value)));
    }
    limited.stdin(std::process::Stdio::null());
    limited.into()
}

/// S4: no file can grow.
#[test]
fn a_disk_that_is_full_ends_the_run_and_loses_nothing() {
    let mut stopped = 0;
    let mut ledgers = std::collections::BTreeSet::new();
    for blocks in (0..=144).step_by(8) {
        let workspace = HALFWAY.copy();
        let ran = with_largest_file(blocks, wharf("resume").dir(workspace.path())).run();
        if ran.code != Some(0) {
            stopped += 1;
            let told = ["disk-full", "disk-failed"]
                .iter()
                .any(|code| ran.stderr.contains(&format!("error[{code}]: ")));
            assert!(told && ran.code == Some(1), "{blocks}: {ran:?}");
            assert_eq!(ran.stdout, "", "{blocks}");
        }
        ledgers.insert(workspace.ledger().len());
        assert_goes_on(&workspace);
    }
    // It was stopped before the next effect, and between effects.
    assert!(stopped > 4 && ledgers.len() > 1, "{stopped}, {ledgers:?}");
}

#[test]
fn a_preparation_on_a_full_disk_can_be_repeated_once_there_is_room() {
    // From the first page of a database to the component: below that, the sandbox itself gets no memory.
    for blocks in [64, 128, 200, 256, 300, 360, 400] {
        let workspace = Workspace::new();
        let ran = with_largest_file(blocks, demo::demo(&workspace, "stable")).run();
        assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{blocks}: {ran:?}");
        let told = ["disk-full", "disk-failed"]
            .iter()
            .any(|code| ran.stderr.contains(&format!("error[{code}]: ")));
        assert!(told, "{blocks}: {ran:?}");
        // Either the task was admitted, or nothing stands in the way of the same command.
        let again = match host::tasks(&workspace.path()) {
            Ok(tasks) if !tasks.is_empty() => wharf("resume").dir(workspace.path()),
            _ => demo::demo(&workspace, "stable"),
        };
        let _ = again.run().exits(0);
        let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    }
}

#[test]
fn a_file_where_a_folder_of_the_task_should_be_ends_the_run_and_it_goes_on_without() {
    let task = Path::new("tasks").join(TASK);
    for (folder, kept) in [
        (task.join("evidence"), true),
        (task.join("output"), false),
        (task, true),
    ] {
        let workspace = HALFWAY.copy();
        let (path, aside) = (
            workspace.path().join(folder),
            workspace.path().join("aside"),
        );
        if kept {
            fs::rename(&path, &aside).unwrap();
        }
        fs::write(&path, "").unwrap();
        let ran = wharf("resume").dir(workspace.path()).run();
        ran.refusal(1, "path-taken");
        fs::remove_file(&path).unwrap();
        if kept {
            fs::rename(&aside, &path).unwrap();
        }
        assert_goes_on(&workspace);
    }
}

/// S4: no directory.
#[test]
fn a_directory_that_is_a_file_or_leads_through_one_is_bad_input() {
    let workspace = Workspace::new();
    let file = workspace.handed_in("file", "theirs");
    for directory in [file.clone(), file.join("below"), file.join("below/further")] {
        let demo = wharf("demo")
            .arg("--plugin")
            .arg(wharf_tests::built::plugin("fulfillment"));
        demo.dir(&directory).run().refusal(2, "directory-foreign");
        for command in ["resume", "status", "audit"] {
            wharf(command).dir(&directory).run().refusal(2, "no-task");
        }
    }
    assert_eq!(fs::read(file).unwrap(), b"theirs");
}
