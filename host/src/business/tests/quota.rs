//! The workspace's size: a database that may not grow any more.

use std::num::NonZeroU64;

use super::*;
use crate::words::error::Kind;

fn small() -> SqlLimits {
    SqlLimits {
        workspace_bytes: NonZeroU64::new(256 * 1024).unwrap(),
        ..SqlLimits::standard()
    }
}

fn fill(fixture: &Fixture, key: &str) -> Result<Performed, Error> {
    fixture.store.perform(&operation("t1", key), &mut |sql| {
        let long = [SqlValue::Text("a".repeat(50_000))];
        for number in 0..20 {
            let text = format!("INSERT INTO items (name, n, body) VALUES ('{key}{number}', 1, ?1)");
            match sql.execute(&text, &long) {
                Ok(_) => {}
                Err(SqlFault::Fatal(error)) => {
                    // Should the plugin go on all the same, nothing of it happens.
                    let after = sql.execute("INSERT INTO counters VALUES ('after', 1)", &[]);
                    assert!(matches!(after, Err(SqlFault::Fatal(_))), "{after:?}");
                    return match key {
                        "stubborn" => done(),
                        _ => Err(error),
                    };
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        done()
    })
}

#[test]
fn a_full_workspace_is_a_limit_loses_nothing_and_goes_on_when_there_is_room() {
    let fixture = Fixture::with(small());
    fixture.add("t1", "before");
    for key in ["honest", "stubborn"] {
        let error = fill(&fixture, key).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("workspace-full", Kind::Limit),
            "{error:?}"
        );
        assert!(error.to_string().contains("262144 are allowed"), "{error}");
        assert_eq!(fixture.count("SELECT count(*) FROM items"), 1);
        assert_eq!(fixture.count("SELECT count(*) FROM counters"), 0);
        assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), 1);
    }
    // What needs no more room is done, on the same connection.
    fixture.add("t1", "small");
    let pages = fixture.count("PRAGMA page_count");
    assert!(pages * 4096 <= 256 * 1024, "{pages}");

    // With more room, the same operation goes through.
    let Fixture { folder, store } = fixture;
    drop(store);
    let store = open(&folder, SqlLimits::standard());
    let fixture = Fixture { folder, store };
    let performed = fill(&fixture, "honest").unwrap();
    assert!(matches!(
        performed,
        Performed::Done {
            replayed: false,
            ..
        }
    ));
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 22);
}

/// The host's own row has no room either: the operation did not happen, and it is no failure of the disk.
#[test]
fn a_ledger_row_that_has_no_room_is_the_same_limit() {
    let fixture = Fixture::with(small());
    let mut last = None;
    for number in 0..100 {
        let key = format!("k{number}");
        let result = fixture.store.perform(&operation("t1", &key), &mut |_| {
            Ok(Ok(StepAnswer::Done {
                state: "done".into(),
                data: JsonText::of(&"a".repeat(20_000)),
            }))
        });
        if let Err(error) = result {
            assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), number);
            last = Some((error.code(), error.kind()));
            break;
        }
    }
    assert_eq!(last, Some(("workspace-full", Kind::Limit)));
}

#[test]
fn a_migration_and_a_seed_that_find_no_room_are_not_applied() {
    let fixture = Fixture::with(small());
    let plugin = "p".parse().unwrap();
    let fill = "INSERT INTO items (name, n, body) WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 50) SELECT 'x' || i, 1, printf('%.*c', 9000, 'a') FROM r";
    let error = fixture
        .store
        .install(&plugin, &migrations(&[TABLES, fill]), at())
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("workspace-full", Kind::Limit)
    );
    let error = fixture.store.seed(&plugin, fill, at()).unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("workspace-full", Kind::Limit)
    );
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 0);
    assert_eq!(
        fixture.count("SELECT count(*) FROM wharf_plugin_migrations WHERE plugin = 'p'"),
        1
    );
}

/// A workspace that was larger before the limit was lowered is read and changed in place.
#[test]
fn a_limit_below_the_present_size_stops_growth_alone() {
    let fixture = Fixture::new();
    fill(&fixture, "k1").unwrap();
    let Fixture { folder, store } = fixture;
    drop(store);
    let fixture = Fixture {
        store: open(&folder, small()),
        folder,
    };
    assert_eq!(fill(&fixture, "k2").unwrap_err().code(), "workspace-full");
    let performed = fixture.store.perform(&operation("t1", "k3"), &mut |sql| {
        assert_eq!(sql.execute("DELETE FROM items", &[]).unwrap(), 20);
        done()
    });
    assert!(performed.is_ok());
    // The room that it left is used again.
    fill(&fixture, "k2").unwrap();
}

/// A table that has used up its row ids says the same to SQLite as a full disk; the operation is lost, and no disk is blamed.
#[test]
fn row_ids_that_are_used_up_are_no_full_disk() {
    let fixture = Fixture::new();
    let result = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        let last = "INSERT INTO items (id, name, n) VALUES (9223372036854775807, 'last', 1)";
        sql.execute(last, &[]).unwrap();
        match sql.execute("INSERT INTO items (name, n) VALUES ('more', 1)", &[]) {
            Err(SqlFault::Fatal(error)) => Err(error),
            other => panic!("{other:?}"),
        }
    });
    let error = result.unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("workspace-full", Kind::Limit)
    );
    assert!(error.hint().contains("row ids"), "{error:?}");
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 0);
}
