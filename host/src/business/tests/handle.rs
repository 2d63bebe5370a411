//! The handle that a call has: parameters, what follows an error, what is left when the call is over, what is told of it.

use super::*;
use crate::words::error::Kind;
use crate::words::events::events;

#[test]
fn parameters_of_another_number_or_type_do_nothing() {
    let fixture = Fixture::new();
    fixture.writing(|sql| {
        let one = SqlValue::Integer(1);
        for (text, values) in [
            ("INSERT INTO counters VALUES (?1, ?2)", vec![]),
            ("INSERT INTO counters VALUES (?1, ?2)", vec![one.clone()]),
            ("INSERT INTO counters VALUES (?1, ?2)", vec![one.clone(); 3]),
            ("INSERT INTO counters VALUES ('a', 1)", vec![one.clone()]),
            ("INSERT INTO counters VALUES ('a', ?3)", vec![one.clone()]),
        ] {
            let result = sql.execute(text, &values);
            assert!(
                matches!(&result, Err(SqlFault::Failed(told)) if told.contains("parameters")),
                "{text}: {result:?}"
            );
        }
        // A name is no parameter, and an unused number needs a value as well.
        assert!(
            sql.query(
                "SELECT :a, @b, $c, ?",
                &[one.clone(), one.clone(), one.clone(), one.clone()]
            )
            .is_ok()
        );
        for wrong in [
            SqlValue::Text("x".into()),
            SqlValue::Blob(vec![1]),
            SqlValue::Real(0.5),
            SqlValue::Null,
        ] {
            let result = sql.execute("INSERT INTO items (name, n) VALUES ('x', ?1)", &[wrong]);
            assert!(matches!(result, Err(SqlFault::Constraint(_))), "{result:?}");
        }
        // A text that is no UTF-8 never comes out.
        sql.execute("INSERT INTO counters VALUES (CAST(x'ff' AS TEXT), 1)", &[])
            .unwrap();
        let result = sql.query("SELECT name FROM counters", &[]);
        assert!(matches!(result, Err(SqlFault::Failed(_))), "{result:?}");
        assert_eq!(sql.execute("DELETE FROM counters", &[]).unwrap(), 1);
    });
}

#[test]
fn values_that_are_too_long_are_a_limit_and_the_call_goes_on() {
    let fixture = Fixture::new();
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        for long in [
            SqlValue::Text("a".repeat(1 << 20)),
            SqlValue::Blob(vec![0; 64 << 20]),
        ] {
            for text in [
                "SELECT length(?1)",
                "SELECT ?1",
                "SELECT typeof(?1) WHERE ?1 IS NOT NULL",
            ] {
                let result = sql.query(text, std::slice::from_ref(&long));
                assert!(
                    matches!(result, Err(SqlFault::Limit(_))),
                    "{text}: {result:?}"
                );
            }
            let result = sql.execute(
                "INSERT INTO items (name, n, body) VALUES ('long', 1, ?1)",
                &[long],
            );
            assert!(matches!(result, Err(SqlFault::Limit(_))), "{result:?}");
        }
        add_item(&*sql, "after");
        done()
    });
    assert!(performed.is_ok());
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 1);
}

/// Each kind of failure is followed by a statement that works: none leaves a cursor, a savepoint or another phase behind.
#[test]
fn a_statement_after_an_error_is_as_good_as_before_it() {
    let fixture = Fixture::new();
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        for (number, failing) in [
            "SELECT * FROM wharf_ledger",
            "SELEC",
            "INSERT INTO items (name, n) VALUES ('x0', -1)",
            "INSERT INTO items (name, n) VALUES ('a', 1), ('b', 2), ('x0', 3), ('d', -4)",
            "INSERT OR FAIL INTO counters VALUES ('kept', 1), (NULL, 1), ('kept', 2)",
            "SELECT printf('%.*c', 1000000, 'a')",
            "SELECT json('{')",
            "VACUUM",
            "COMMIT",
        ]
        .into_iter()
        .enumerate()
        {
            assert!(run(&*sql, failing).is_err(), "{failing}");
            add_item(&*sql, &format!("x{number}"));
        }
        done()
    });
    assert!(performed.is_ok());
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 9);
}

/// A result is copied out before the next statement runs: no cursor of a plugin is ever open beside another statement, and
/// rows that are changed under a result do not change it.
#[test]
fn a_result_is_whole_and_outlives_what_it_was_read_from() {
    let fixture = Fixture::new();
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        add_item(&*sql, "a");
        add_item(&*sql, "b");
        let rows = sql
            .query("SELECT name FROM items ORDER BY name", &[])
            .unwrap();
        sql.execute("DELETE FROM items", &[]).unwrap();
        assert_eq!(rows.rows.len(), 2);
        assert_eq!(rows.rows[1], [SqlValue::Text("b".into())]);
        done()
    });
    assert!(performed.is_ok());
}

#[test]
fn a_handle_that_is_kept_is_closed_and_its_use_is_told() {
    let fixture = Fixture::new();
    let mut kept = None;
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        kept = Some(Arc::clone(&sql));
        done()
    });
    assert!(performed.is_ok());
    let kept = kept.unwrap();
    let ((), told) = events(|| {
        for _ in 0..3 {
            let result = kept.execute("INSERT INTO counters VALUES ('late', 1)", &[]);
            assert!(matches!(result, Err(SqlFault::Denied(_))), "{result:?}");
        }
        assert!(arc_is_closed(&kept));
    });
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("the transaction is closed"), "{told:?}");
    assert_eq!(fixture.count("SELECT count(*) FROM counters"), 0);
    drop(kept);
    // Nor does it keep the next call from its connection.
    fixture.add("t1", "k2");
}

#[test]
fn a_constraint_that_is_deferred_ends_the_operation_at_its_commit() {
    let fixture = Fixture::new();
    let promises =
        "CREATE TABLE promises (kept INTEGER REFERENCES items (id) DEFERRABLE INITIALLY DEFERRED)";
    let list = migrations(&[TABLES, promises]);
    fixture
        .store
        .install(&"p".parse().unwrap(), &list, at())
        .unwrap();
    for (key, id, kept) in [("broken", 7, false), ("kept", 1, true)] {
        let result = fixture.store.perform(&operation("t1", key), &mut |sql| {
            let changed = sql.execute("INSERT INTO promises VALUES (?1)", &[SqlValue::Integer(id)]);
            assert_eq!(changed.unwrap(), 1);
            add_item(&*sql, "a");
            done()
        });
        match result {
            Ok(_) => assert!(kept),
            Err(error) => {
                assert_eq!(
                    (error.code(), error.kind()),
                    ("sql-deferred-constraint", Kind::PluginFault),
                    "{error:?}"
                );
                assert!(!kept);
                for table in ["items", "promises", "wharf_ledger", "wharf_anchors"] {
                    assert_eq!(
                        fixture.count(&format!("SELECT count(*) FROM {table}")),
                        0,
                        "{table}"
                    );
                }
            }
        }
    }
    assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), 1);
}

#[test]
fn a_flood_of_refusals_is_told_in_a_few_lines() {
    let fixture = Fixture::new();
    let ((), told) = events(|| {
        fixture.writing(|sql| {
            for _ in 0..1000 {
                let _ = sql.query("SELECT * FROM wharf_ledger", &[]);
            }
        });
    });
    assert_eq!(told.len(), 11, "{told:?}");
    assert!(told[10].contains("left_out=990"), "{told:?}");
    // The next call has its own lines.
    let ((), told) = events(|| fixture.reading(|sql| drop(sql.query("SELECT * FROM others", &[]))));
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn what_is_told_of_a_statement_is_short_and_obeys_no_terminal() {
    let fixture = Fixture::new();
    let hostile = format!(
        "SELECT '\u{1b}[2J\u{202e}\nWARN forged' FROM wharf_ledger -- {}",
        "x".repeat(10_000)
    );
    let named = format!("SELECT 1 FROM \"wharf_\u{1b}[31m{}\"", "y".repeat(10_000));
    let ((), told) = events(|| {
        fixture.reading(|sql| {
            assert!(matches!(sql.query(&hostile, &[]), Err(SqlFault::Denied(_))));
            let _ = sql.query(&named, &[]);
            let _ = sql.query("CREATE TABLE \u{1b}[31m (x)", &[]);
        });
    });
    assert!(!told.is_empty());
    for line in told {
        assert!(line.len() < 1000, "{line}");
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line}");
        assert!(line.contains("WARN"), "{line}");
    }
}

#[test]
fn a_credential_in_a_refused_statement_does_not_reach_the_operator() {
    let fixture = Fixture::new();
    let text = "SELECT 'password=hunter2-in-a-statement' FROM wharf_ledger";
    let ((), told) = events(|| fixture.reading(|sql| drop(sql.query(text, &[]))));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("password=[scrubbed]"), "{told:?}");
    assert!(!told[0].contains("hunter2"), "{told:?}");
}

#[test]
fn a_failure_of_syntax_or_of_a_constraint_is_no_refusal() {
    let fixture = Fixture::new();
    let ((), told) = events(|| {
        fixture.writing(|sql| {
            add_item(sql, "a");
            for text in [
                "SELEC 1",
                "SELECT nothing FROM items",
                "INSERT INTO items (name, n) VALUES ('a', 1)",
            ] {
                assert!(run(sql, text).is_err());
            }
        });
    });
    assert_eq!(told, [""; 0]);
}
