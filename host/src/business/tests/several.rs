//! Several plugins in one workspace.

use super::{state::state, *};
use crate::words::events::events;
use crate::words::id::PluginName;

fn plugin(name: &str) -> PluginName {
    name.parse().unwrap()
}

/// An operation of another plugin than `p`.
fn of(name: &str, task: &str, key: &str) -> Operation {
    Operation {
        plugin: plugin(name),
        ..operation(task, key)
    }
}

/// Three plugins, each with tables, an index, a view and rows of its own, and a ledger row.
fn three() -> Fixture {
    let fixture = Fixture::new();
    for name in ["a", "b", "c"] {
        let tables = format!(
            "CREATE TABLE {name}_parents (id INTEGER PRIMARY KEY, other INTEGER REFERENCES {name}_children (id)) STRICT;
             CREATE TABLE {name}_children (id INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER NOT NULL REFERENCES {name}_parents (id) ON DELETE RESTRICT);
             CREATE INDEX {name}_index ON {name}_children (parent);
             CREATE VIEW \"{name} view\" AS SELECT id FROM {name}_parents;"
        );
        fixture
            .store
            .install(&plugin(name), &migrations(&[&tables]), at())
            .unwrap();
        let seed = format!(
            "CREATE TRIGGER {name}_trigger AFTER INSERT ON {name}_parents BEGIN INSERT INTO {name}_children (parent) VALUES (NEW.id); END;
             INSERT INTO {name}_parents (id) VALUES (1), (2);
             UPDATE {name}_parents SET other = id;"
        );
        fixture.store.seed(&plugin(name), &seed, at()).unwrap();
        let performed = fixture.store.perform(&of(name, "t", "k"), &mut |sql| {
            sql.execute(&format!("INSERT INTO {name}_parents (id) VALUES (3)"), &[])
                .unwrap();
            done()
        });
        assert!(performed.is_ok());
    }
    fixture
}

#[test]
fn each_plugin_sees_its_own_tables_alone() {
    let fixture = three();
    for name in ["a", "b", "c"] {
        for other in ["a", "b", "c", "p"] {
            let texts = match other {
                "p" => vec![
                    "SELECT * FROM items".to_owned(),
                    "SELECT * FROM small_items".to_owned(),
                ],
                _ => vec![
                    format!("SELECT * FROM {other}_parents"),
                    format!("SELECT count(*) FROM {other}_children"),
                    format!("SELECT * FROM \"{other} view\""),
                    format!("UPDATE {other}_parents SET id = id"),
                    format!(
                        "SELECT 1 FROM {name}_parents WHERE id IN (SELECT id FROM {other}_parents)"
                    ),
                ],
            };
            let (result, told) = events(|| {
                fixture
                    .store
                    .perform(&of(name, "t", &format!("sees-{other}")), &mut |sql| {
                        for text in &texts {
                            let result = run(&*sql, text);
                            if name == other {
                                assert!(result.is_ok(), "{name}: {text}: {result:?}");
                            } else {
                                assert!(
                                    matches!(result, Err(SqlFault::Denied(_))),
                                    "{name}: {text}: {result:?}"
                                );
                            }
                        }
                        done()
                    })
            });
            result.unwrap();
            assert_eq!(told.len(), if name == other { 0 } else { texts.len() });
            assert!(
                told.iter()
                    .all(|line| line.contains(&format!("plugin=\"{name}\""))),
                "{told:?}"
            );
        }
    }
}

/// What one plugin has had prepared is not the other's, although both use the same connection and the same text.
#[test]
fn a_statement_that_one_plugin_may_run_is_refused_to_the_next() {
    let fixture = three();
    let text = "SELECT count(*) FROM a_parents";
    for _ in 0..3 {
        for name in ["a", "b"] {
            let read = Read {
                plugin: plugin(name),
                subject: None,
            };
            let mut result = None;
            fixture
                .store
                .read(&read, &mut |sql| {
                    result = Some(run(&*sql, text));
                    Ok(())
                })
                .unwrap();
            let result = result.unwrap();
            assert_eq!(result.is_ok(), name == "a", "{name}: {result:?}");
        }
    }
}

/// A statement that was prepared while the table was the plugin's is refused once the table is another's.
#[test]
fn a_table_that_changes_hands_takes_no_prepared_statement_along() {
    let fixture = Fixture::new();
    let install = |name: &str, texts: &[&str]| {
        fixture
            .store
            .install(&plugin(name), &migrations(texts), at())
            .unwrap();
    };
    let text = "SELECT count(*) FROM passed";
    let reads = |name: &str| {
        let mut operation = of(name, "t", "k");
        operation.effect = Effect::Read;
        let mut result = None;
        let _ = fixture.store.perform(&operation, &mut |sql| {
            result = Some(run(&*sql, text).is_ok());
            Ok(Ok(StepAnswer::Declined(JsonText::of(&1))))
        });
        result.unwrap()
    };
    install("a", &["CREATE TABLE passed (x)"]);
    assert!(reads("a") && reads("a") && !reads("b"));
    install("a", &["CREATE TABLE passed (x)", "DROP TABLE passed"]);
    install("b", &["CREATE TABLE passed (x, y)"]);
    assert!(reads("b") && !reads("a"));
}

#[test]
fn names_of_several_plugins_do_not_collide() {
    let fixture = three();
    let before = state(&fixture.outside(), "", |_| true);
    for taken in [
        "CREATE TABLE a_parents (x)",
        "CREATE TABLE A_Parents (x)",
        "CREATE VIEW a_children AS SELECT 1",
        "CREATE TABLE \"a view\" (x)",
        "CREATE TABLE mine (x); CREATE INDEX a_index ON mine (x)",
        "CREATE TABLE a_index (x)",
        "CREATE TABLE mine (x); ALTER TABLE mine RENAME TO a_parents",
    ] {
        let error = fixture
            .store
            .install(&plugin("d"), &migrations(&[taken]), at())
            .expect_err(taken);
        assert!(
            error.code().starts_with("plugin-script-"),
            "{taken}: {error:?}"
        );
        assert_eq!(state(&fixture.outside(), "", |_| true), before, "{taken}");
    }
}

#[test]
fn removing_a_plugin_leaves_the_others_and_the_history() {
    let fixture = three();
    let history = |name: &str| name == "wharf_ledger" || name == "wharf_anchors";
    let others = |name: &str| {
        !name.starts_with("b_") && !name.starts_with("wharf_") && name != "sqlite_sequence"
    };
    let rows = |of: &dyn Fn(&str) -> bool| -> String {
        let text = state(&fixture.outside(), "", of);
        text.lines()
            .filter(|line| !line.starts_with("schema "))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    let before = (rows(&history), rows(&others));
    assert!(before.0.contains("\"b\""));
    assert_eq!(fixture.store.remove(&plugin("b")).unwrap(), 3);
    assert_eq!((rows(&history), rows(&others)), before);
    assert_eq!(
        fixture
            .count("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'b%' OR tbl_name LIKE 'b%'"),
        0
    );
    assert_eq!(
        fixture.count("SELECT count(*) FROM sqlite_sequence WHERE name LIKE 'b%'"),
        0
    );
    for table in ["wharf_tables", "wharf_plugin_migrations", "wharf_seeds"] {
        assert_eq!(
            fixture.count(&format!("SELECT count(*) FROM {table} WHERE plugin = 'b'")),
            0
        );
    }
    assert_eq!(
        fixture.count("SELECT count(*) FROM pragma_foreign_key_check"),
        0
    );

    // The others go on, and what was performed stays performed.
    let performed = fixture.store.perform(&of("a", "t", "after"), &mut |sql| {
        sql.execute("INSERT INTO a_parents (id) VALUES (4)", &[])
            .unwrap();
        done()
    });
    assert!(performed.is_ok());
    let again = fixture
        .store
        .perform(&of("b", "t", "k"), &mut |_| panic!("called"));
    assert!(matches!(again, Ok(Performed::Done { replayed: true, .. })));
    // It is removed once, and may come back with other tables.
    assert_eq!(fixture.store.remove(&plugin("b")).unwrap(), 0);
    fixture
        .store
        .install(
            &plugin("b"),
            &migrations(&["CREATE TABLE b_parents (x)"]),
            at(),
        )
        .unwrap();
    let performed = fixture.store.perform(&of("b", "t", "fresh"), &mut |sql| {
        assert_eq!(run(&*sql, "SELECT * FROM b_parents").unwrap().rows.len(), 0);
        done()
    });
    assert!(performed.is_ok());
}

/// SQLite's own words for a column, an index or a key that is not there differed from a refusal, and a join that it could
/// leave out was no error at all: which columns another plugin's table has could be learned, and nobody was told.
#[test]
fn what_another_plugins_table_is_like_cannot_be_learned() {
    let fixture = three();
    let create = "CREATE UNIQUE INDEX others_index ON others (x)";
    let list = migrations(&["CREATE TABLE others (x)", create]);
    fixture.store.install(&plugin("q"), &list, at()).unwrap();
    let told = |text: &str| {
        let (fault, told) = events(|| {
            fixture.writing(|sql| match sql.query(text, &[]) {
                Err(SqlFault::Denied(why)) => why,
                other => panic!("{text}: {other:?}"),
            })
        });
        assert_eq!(told.len(), 1, "{text}: {told:?}");
        fault
    };
    for (is, is_not) in [
        ("SELECT x FROM others", "SELECT y FROM others"),
        ("SELECT rowid FROM others", "SELECT y FROM others"),
        (
            "SELECT 1 FROM others AS o WHERE o.x = 1",
            "SELECT 1 FROM others AS o WHERE o.y = 1",
        ),
        (
            "SELECT 1 FROM others JOIN items USING (x)",
            "SELECT 1 FROM others JOIN items USING (name)",
        ),
        (
            "SELECT random() FROM (SELECT 1 AS x) LEFT JOIN others USING (x)",
            "SELECT random() FROM (SELECT 1 AS y) LEFT JOIN others USING (y)",
        ),
        (
            "SELECT 1 FROM (SELECT 1 AS x) LEFT JOIN others USING (x)",
            "SELECT 1 FROM (SELECT 1 AS y) LEFT JOIN others USING (y)",
        ),
        (
            "SELECT 1 FROM others INDEXED BY others_index",
            "SELECT 1 FROM others INDEXED BY nowhere",
        ),
        (
            "INSERT INTO others VALUES (1)",
            "INSERT INTO others VALUES (1, 2)",
        ),
        (
            "INSERT INTO others (x) VALUES (random()) ON CONFLICT (x) DO NOTHING",
            "INSERT INTO others (y) VALUES (random()) ON CONFLICT (y) DO NOTHING",
        ),
        ("UPDATE others SET x = 1", "UPDATE others SET y = 1"),
        (
            "ALTER TABLE others DROP COLUMN x",
            "ALTER TABLE others DROP COLUMN y",
        ),
        (
            "ALTER TABLE others ADD COLUMN x",
            "ALTER TABLE others ADD COLUMN y",
        ),
        (
            "CREATE INDEX i ON others (x)",
            "CREATE INDEX i ON others (y)",
        ),
        ("SELECT id FROM \"b view\"", "SELECT y FROM \"b view\""),
        ("DELETE FROM \"b view\"", "DELETE FROM others"),
    ] {
        let without_name = |why: String| why.replace("b view", "others");
        assert_eq!(without_name(told(is)), without_name(told(is_not)), "{is}");
    }
}

/// A view on another plugin's table, of which SQLite leaves the table out, was accepted, and from then on that plugin could
/// neither rename nor change what the view named.
#[test]
fn no_view_of_one_plugin_stands_in_the_way_of_anothers_migrations() {
    let fixture = three();
    for (number, view) in (0..).zip([
        "CREATE VIEW v AS SELECT 1 AS one FROM (SELECT 1 AS id) LEFT JOIN b_parents USING (id)",
        "CREATE VIEW v AS WITH x AS (SELECT other FROM b_parents) SELECT 1 AS one",
        "CREATE VIEW v AS SELECT 1 AS one FROM a_own WHERE 0 AND EXISTS (SELECT 1 FROM \"b view\")",
    ]) {
        let list = migrations(&[&format!("CREATE TABLE a_own (x); {view}")]);
        let name = plugin(&format!("a{number}"));
        let error = fixture.store.install(&name, &list, at()).unwrap_err();
        assert_eq!(error.code(), "plugin-script-refused", "{view}: {error:?}");
    }
}
