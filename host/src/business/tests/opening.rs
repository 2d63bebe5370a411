//! Opening: whose workspace, which schema, what kind of file.

use std::fs;

use super::*;
use crate::words::error::Kind;

fn try_open(folder: &TempDir, tenant: &str) -> Result<BusinessStore, Error> {
    BusinessStore::open(
        &folder.path().join("business.sqlite"),
        &tenant.parse().unwrap(),
        SqlLimits::standard(),
        at(),
    )
}

fn code_of<T>(result: Result<T, Error>) -> (&'static str, Kind) {
    let error = result.err().expect("it was refused");
    (error.code(), error.kind())
}

/// Names and bytes of all files in a folder.
fn files(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_workspace_belongs_to_one_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("business.sqlite");
    assert_eq!(BusinessStore::workspace_of(&path).unwrap(), None);
    let first = try_open(&folder, "tenant").unwrap();
    let workspace = first.workspace().clone();
    assert_eq!(workspace.id.len(), 32);
    drop(first);
    let before = files(&folder);
    assert_eq!(before.len(), 1, "closing leaves the database alone");
    assert_eq!(
        code_of(try_open(&folder, "other")),
        ("workspace-other-tenant", Kind::Denied)
    );
    let reading =
        BusinessStore::open_read_only(&path, &"other".parse().unwrap(), SqlLimits::standard());
    assert_eq!(code_of(reading), ("workspace-other-tenant", Kind::Denied));
    assert_eq!(files(&folder), before);
    assert_eq!(
        BusinessStore::workspace_of(&path).unwrap(),
        Some(workspace.clone())
    );
    let again = try_open(&folder, "tenant").unwrap();
    assert_eq!(again.workspace(), &workspace);
    assert!(again.check_tenant(&"other".parse().unwrap()).is_err());
}

#[test]
fn a_newer_a_changed_an_incomplete_and_a_foreign_schema_are_told_apart_and_left_untouched() {
    for (change, expected) in [
        (
            "INSERT INTO wharf_migrations VALUES (2, 'later', 'x', 'then')",
            ("schema-newer", Kind::Conflict),
        ),
        (
            "UPDATE wharf_migrations SET checksum = 'x'",
            ("migration-changed", Kind::Corrupt),
        ),
        (
            "DROP TABLE wharf_migrations",
            ("table-missing", Kind::Corrupt),
        ),
        (
            "DROP TABLE wharf_seeds",
            ("table-missing", Kind::Corrupt),
        ),
        (
            "DROP TABLE wharf_migrations; DROP TABLE wharf_workspace; DROP TABLE wharf_ledger; DROP TABLE wharf_anchors;
             DROP TABLE wharf_barrier; DROP TABLE wharf_tables; DROP TABLE wharf_plugin_migrations; DROP TABLE wharf_seeds",
            ("database-foreign", Kind::InvalidInput),
        ),
    ] {
        let fixture = Fixture::new();
        fixture.outside().execute_batch(change).unwrap();
        let Fixture { folder, store } = fixture;
        drop(store);
        let before = files(&folder);
        assert_eq!(code_of(try_open(&folder, "tenant")), expected);
        assert_eq!(files(&folder), before, "{change}");
    }
}

#[test]
fn a_file_that_is_no_database_is_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("business.sqlite");
    fs::write(
        &path,
        "not a database, but long enough to look like one ".repeat(40),
    )
    .unwrap();
    let before = files(&folder);
    assert_eq!(
        code_of(try_open(&folder, "tenant")),
        ("database-not-sqlite", Kind::Corrupt)
    );
    assert_eq!(files(&folder), before);
}

#[test]
fn a_missing_folder_and_a_missing_file_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let tenant = "tenant".parse().unwrap();
    let path = folder.path().join("nowhere").join("business.sqlite");
    let result = BusinessStore::open(&path, &tenant, SqlLimits::standard(), at());
    assert_eq!(code_of(result), ("database-cannot-open", Kind::Unavailable));
    let path = folder.path().join("business.sqlite");
    let result = BusinessStore::open_read_only(&path, &tenant, SqlLimits::standard());
    assert_eq!(code_of(result), ("database-missing", Kind::Unavailable));
    assert!(files(&folder).is_empty());
}

#[test]
fn a_file_that_can_only_be_read_is_told() {
    let Fixture { folder, store } = Fixture::new();
    drop(store);
    let path = folder.path().join("business.sqlite");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    // The superuser may write it all the same.
    if fs::OpenOptions::new().write(true).open(&path).is_err() {
        assert_eq!(
            code_of(try_open(&folder, "tenant")),
            ("database-read-only", Kind::Unavailable)
        );
    }
}

#[test]
fn reading_leaves_no_trace_and_writes_nothing() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let Fixture { folder, store } = fixture;
    drop(store);
    let before = files(&folder);
    let open = || {
        let path = folder.path().join("business.sqlite");
        BusinessStore::open_read_only(&path, &"tenant".parse().unwrap(), SqlLimits::standard())
            .unwrap()
    };
    let store = open();
    assert_eq!(store.rows_of(&"t1".parse().unwrap()).unwrap().len(), 1);
    assert!(store.anchor_of(&"t1".parse().unwrap()).unwrap().is_some());
    let read = Read {
        plugin: "p".parse().unwrap(),
        subject: None,
    };
    let read = store.read(&read, &mut |sql| {
        assert_eq!(run(&*sql, "SELECT * FROM items").unwrap().rows.len(), 1);
        Ok(())
    });
    assert!(read.is_ok());
    store.settle().unwrap();
    for refused in [
        code_of(store.anchor(&"t1".parse().unwrap(), &position(2))),
        code_of(store.perform(&operation("t1", "k2"), &mut |_| done())),
    ] {
        assert_eq!(refused, ("business-read-only", Kind::Bug));
    }
    drop(store);
    assert_eq!(files(&folder), before);

    // What a killed process left is read where it is, and stays there.
    let store = open_writing(&folder);
    store
        .perform(&operation("t1", "k2"), &mut |_| done())
        .unwrap();
    let copy = tempfile::tempdir().unwrap();
    for (name, bytes) in files(&folder) {
        if !name.ends_with("-shm") {
            fs::write(copy.path().join(name), bytes).unwrap();
        }
    }
    let before = files(&copy);
    assert_eq!(before.len(), 2);
    let path = copy.path().join("business.sqlite");
    let killed =
        BusinessStore::open_read_only(&path, &"tenant".parse().unwrap(), SqlLimits::standard())
            .unwrap();
    assert_eq!(killed.rows_of(&"t1".parse().unwrap()).unwrap().len(), 2);
    drop(killed);
    let mut after = files(&copy);
    after.retain(|(name, _)| !name.ends_with("-shm"));
    assert_eq!(after, before);
}

fn open_writing(folder: &TempDir) -> BusinessStore {
    open(folder, SqlLimits::standard())
}

#[test]
fn many_openers_of_a_new_file_agree() {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| {
                scope
                    .spawn(|| try_open(&folder, "tenant").map(|store| store.workspace().id.clone()))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().unwrap())
            .collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]));
}

#[test]
fn a_full_disk_is_told_and_leaves_what_was_committed() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let limit_pages = |pages: i64| {
        let transaction = fixture.store.writer().unwrap().begin().unwrap();
        let connection = transaction.connection();
        connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
            .unwrap();
    };
    limit_pages(1);
    // What tells a full disk from a full workspace finds no room either.
    fs::create_dir(fixture.folder.path().join("business.sqlite-room")).unwrap();
    let fill = |sql: &dyn Sql| loop {
        let text = SqlValue::Text("a".repeat(4000));
        let result = sql.execute(
            "INSERT INTO counters VALUES (?1 || (SELECT count(*) FROM counters), 1)",
            &[text],
        );
        if let Err(fault) = result {
            break fault;
        }
    };
    let told = fixture
        .store
        .perform(&operation("t1", "k2"), &mut |sql| match fill(&*sql) {
            SqlFault::Fatal(error) => Err(error),
            other => panic!("{other:?}"),
        });
    assert_eq!(code_of(told), ("disk-full", Kind::Unavailable));
    // A caller that does not listen commits nothing either.
    let unheard = fixture.store.perform(&operation("t1", "k2"), &mut |sql| {
        fill(&*sql);
        done()
    });
    assert_eq!(
        code_of(unheard),
        ("business-file-failed", Kind::Unavailable)
    );
    limit_pages(1_000_000);
    assert_eq!(fixture.count("SELECT count(*) FROM counters"), 0);
    assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), 1);
    fixture.add("t1", "k2");
}

#[test]
fn a_damaged_file_and_a_missing_table_are_told() {
    let Fixture { folder, store } = Fixture::new();
    drop(store);
    let path = folder.path().join("business.sqlite");
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[4096..].fill(0x55);
    fs::write(&path, &damaged).unwrap();
    assert_eq!(code_of(try_open(&folder, "tenant")).0, "database-damaged");
    assert_eq!(fs::read(&path).unwrap(), damaged);

    fs::write(&path, &whole).unwrap();
    let store = open_writing(&folder);
    let outside =
        crate::sqlite::open::read_write(&path, crate::sqlite::open::BUSY, |_| Ok(())).unwrap();
    outside.execute_batch("DROP TABLE wharf_anchors").unwrap();
    assert_eq!(
        code_of(store.anchor_of(&"t1".parse().unwrap())),
        ("table-missing", Kind::Corrupt)
    );
}

/// It once inserted the workspace's row at each opening, if only to find it there: whoever opened the database while
/// another process was writing waited four seconds and was told `database-locked`.
#[test]
fn to_open_a_database_is_not_to_wait_for_its_writer() {
    let fixture = Fixture::new();
    let writer = fixture.outside();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let again = open(&fixture.folder, SqlLimits::standard());
    assert_eq!(again.workspace(), fixture.store.workspace());
}
