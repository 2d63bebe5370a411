//! Migrations and seeds.

use super::*;
use crate::{
    business::{Installed, Seeded, check_seed},
    words::{error::Kind, id::PluginName},
};

fn plugin(name: &str) -> PluginName {
    name.parse().unwrap()
}

fn objects(fixture: &Fixture) -> Vec<String> {
    let outside = fixture.outside();
    let mut names = outside
        .prepare("SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'wharf%' AND name NOT LIKE 'sqlite%' ORDER BY 1")
        .unwrap();
    let names = names.query_map((), |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

#[test]
fn installing_twice_is_harmless_and_an_upgrade_applies_only_what_is_new() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let second = "ALTER TABLE items ADD COLUMN extra TEXT;
        CREATE TABLE moved (id INTEGER PRIMARY KEY, label TEXT NOT NULL) STRICT;
        INSERT INTO moved SELECT rowid, label FROM parts;
        DROP VIEW small_items;
        DROP TABLE parts;
        ALTER TABLE counters RENAME TO tallies;
        ALTER TABLE tallies RENAME COLUMN value TO tally;
        CREATE UNIQUE INDEX moved_label ON moved (lower(label));
        DROP INDEX items_small;
        CREATE VIEW all_items (id, name) AS WITH x AS (SELECT * FROM items) SELECT id, name FROM x;";
    let list = migrations(&[TABLES, second]);
    assert_eq!(
        store.pending_migrations(&plugin("p"), &list[..1]).unwrap(),
        0
    );
    assert_eq!(store.pending_migrations(&plugin("p"), &list).unwrap(), 1);
    let installed = store.install(&plugin("p"), &list, at()).unwrap();
    assert_eq!(
        installed,
        Installed {
            applied: 1,
            version: 2
        }
    );
    let stand = objects(&fixture);
    assert_eq!(
        stand,
        [
            "index moved_label",
            "table items",
            "table moved",
            "table others",
            "table tallies",
            "view all_items"
        ]
    );
    let installed = store.install(&plugin("p"), &list, at()).unwrap();
    assert_eq!(
        installed,
        Installed {
            applied: 0,
            version: 2
        }
    );
    assert_eq!(objects(&fixture), stand);
    fixture.writing(|sql| {
        for text in [
            "INSERT INTO tallies (name, tally) VALUES ('a', 1)",
            "SELECT * FROM all_items",
            "SELECT * FROM moved",
            "SELECT extra FROM items",
        ] {
            assert!(run(sql, text).is_ok(), "{text}");
        }
    });
    assert_eq!(
        fixture.count("SELECT count(*) FROM wharf_tables WHERE plugin = 'p'"),
        4
    );
}

#[test]
fn a_list_that_does_not_fit_what_was_applied_is_refused() {
    let fixture = Fixture::new();
    let install = |list: &[Migration]| {
        let error = fixture.store.install(&plugin("p"), list, at()).unwrap_err();
        (error.code(), error.kind())
    };
    assert_eq!(
        install(&migrations(&["CREATE TABLE other (x)"])),
        ("plugin-migration-changed", Kind::Conflict)
    );
    assert_eq!(install(&[]), ("plugin-migration-lower", Kind::Conflict));
    let mut gap = migrations(&[TABLES, "CREATE TABLE a (x)"]);
    gap[1].version = 3;
    assert_eq!(
        install(&gap),
        ("plugin-migration-order", Kind::InvalidInput)
    );
    gap[1].version = 1;
    assert_eq!(
        install(&gap),
        ("plugin-migration-order", Kind::InvalidInput)
    );
    fixture
        .outside()
        .execute_batch("UPDATE wharf_plugin_migrations SET version = 2 WHERE plugin = 'p'")
        .unwrap();
    let list = migrations(&[TABLES, TABLES]);
    assert_eq!(install(&list), ("plugin-migration-missing", Kind::Corrupt));
}

#[test]
fn a_migration_that_fails_leaves_the_earlier_ones() {
    let fixture = Fixture::new();
    let list = migrations(&[
        TABLES,
        "CREATE TABLE a (x)",
        "CREATE TABLE b (x); CREATE TABLE a (x)",
    ]);
    let error = fixture
        .store
        .install(&plugin("p"), &list, at())
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("plugin-script-failed", Kind::InvalidInput),
        "{error:?}"
    );
    assert_eq!(
        fixture
            .store
            .pending_migrations(&plugin("p"), &list)
            .unwrap(),
        1
    );
    assert!(objects(&fixture).contains(&"table a".to_owned()));
    assert!(!objects(&fixture).contains(&"table b".to_owned()));
}

#[test]
fn a_plugin_cannot_take_another_plugins_name_and_each_keeps_to_its_own() {
    let fixture = Fixture::new();
    let error = fixture
        .store
        .install(&plugin("r"), &migrations(&["CREATE TABLE Items (x)"]), at())
        .unwrap_err();
    assert_eq!(error.code(), "plugin-script-refused");
    let read = Read {
        plugin: plugin("q"),
        subject: None,
    };
    fixture
        .store
        .read(&read, &mut |sql| {
            assert!(run(&*sql, "SELECT * FROM others").is_ok());
            assert!(matches!(
                run(&*sql, "SELECT * FROM items"),
                Err(SqlFault::Denied(_))
            ));
            Ok(())
        })
        .unwrap();
}

#[test]
fn another_stores_installation_is_seen_by_the_next_call() {
    let fixture = Fixture::new();
    fixture.reading(|sql| assert!(run(sql, "SELECT * FROM items").is_ok()));
    let other = open(&fixture.folder, SqlLimits::standard());
    let list = migrations(&[TABLES, "CREATE TABLE late (x)"]);
    other.install(&plugin("p"), &list, at()).unwrap();
    fixture.reading(|sql| assert!(run(sql, "SELECT * FROM late").is_ok()));
    fixture.writing(|sql| assert!(run(sql, "INSERT INTO late VALUES (1)").is_ok()));
}

const SEED: &str = "
    INSERT INTO items (name, n) VALUES ('seeded', 1);
    -- A comment; with a semicolon.
    CREATE TRIGGER react AFTER UPDATE OF n ON items WHEN NEW.n > 5
    BEGIN
        UPDATE counters SET value = CASE WHEN value > 0 THEN 0 ELSE 1 END;
        INSERT OR REPLACE INTO counters VALUES (NEW.name, NEW.n);
    END;
    UPDATE items SET n = 2 WHERE name = 'seeded';
";

#[test]
fn a_seed_fills_the_plugins_tables_once_and_its_trigger_reacts_to_the_plugin() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    check_seed(
        &plugin("p"),
        &migrations(&[TABLES]),
        SEED,
        &SqlLimits::standard(),
    )
    .unwrap();
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 0);
    assert_eq!(store.seed(&plugin("p"), SEED, at()).unwrap(), Seeded::Now);
    assert_eq!(
        store.seed(&plugin("p"), SEED, at()).unwrap(),
        Seeded::Before
    );
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 1);
    let error = store.seed(&plugin("p"), "SELECT 1", at()).unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("plugin-seeded-otherwise", Kind::Conflict)
    );
    let performed = store.perform(&operation("t1", "k1"), &mut |sql| {
        assert_eq!(sql.execute("UPDATE items SET n = 9", &[]).unwrap(), 1);
        done()
    });
    assert!(performed.is_ok());
    assert_eq!(
        fixture.count("SELECT value FROM counters WHERE name = 'seeded'"),
        9
    );
}
