//! What a read is refused, and what is no refusal. The attacks stand in `attacks`.

use super::*;

const WRITES: &[&str] = &[
    "INSERT INTO counters VALUES ('a', 1)",
    "INSERT INTO counters VALUES ('a', 1) RETURNING name",
    "REPLACE INTO counters VALUES ('a', 1)",
    "UPDATE counters SET value = 2",
    "DELETE FROM counters",
    "WITH x AS (SELECT 1) UPDATE counters SET value = 2 RETURNING value",
];

/// The texts that were not denied, with what came instead.
fn not_denied(sql: &dyn Sql, texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        for result in [
            sql.query(text, &[]).map(|_| ()),
            sql.execute(text, &[]).map(|_| ()),
        ] {
            if !matches!(result, Err(SqlFault::Denied(_))) {
                found.push(format!("{text}: {result:?}"));
            }
        }
    }
    found
}

#[test]
fn a_read_is_refused_every_write() {
    let fixture = Fixture::new();
    fixture.reading(|sql| {
        assert_eq!(not_denied(sql, WRITES), [""; 0]);
    });
    let mut keyed = operation("t1", "keyed");
    keyed.effect = Effect::Read;
    let performed = fixture.store.perform(&keyed, &mut |sql| {
        assert_eq!(not_denied(&*sql, WRITES), [""; 0]);
        assert_eq!(
            run(&*sql, "SELECT count(*) FROM items").unwrap().rows.len(),
            1
        );
        done()
    });
    assert!(matches!(
        performed.unwrap(),
        Performed::Done {
            replayed: false,
            ..
        }
    ));
    assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), 1);
    assert_eq!(fixture.count("SELECT count(*) FROM counters"), 0);
}

#[test]
fn a_failure_that_is_the_statements_own_is_told_as_such() {
    let fixture = Fixture::new();
    fixture.writing(|sql| {
        add_item(sql, "a");
        for text in [
            "INSERT INTO items (name, n) VALUES ('a', 1)",
            "INSERT INTO items (name, n) VALUES ('b', -1)",
            "INSERT INTO items (name, n) VALUES (NULL, 1)",
            "INSERT INTO items (name, n) VALUES ('b', 'text')",
            "INSERT INTO parts VALUES (99, 'x')",
        ] {
            let result = sql.execute(text, &[]);
            assert!(
                matches!(result, Err(SqlFault::Constraint(_))),
                "{text}: {result:?}"
            );
        }
        for text in [
            "",
            "-- nothing",
            "SELEC 1",
            "SELECT * FROM nowhere",
            "SELECT nothing FROM items",
            "SELECT nowhere(1)",
            "SELECT 1\0",
            "SELECT ?1",
            "SELECT CAST(x'ff' AS TEXT)",
            "SELECT json('{')",
        ] {
            let result = sql.query(text, &[]);
            assert!(
                matches!(result, Err(SqlFault::Failed(_))),
                "{text}: {result:?}"
            );
        }
        assert!(matches!(
            sql.execute("SELECT 1", &[]),
            Err(SqlFault::Failed(_))
        ));
        assert!(matches!(
            sql.query("DELETE FROM items", &[]),
            Err(SqlFault::Failed(_))
        ));
        assert_eq!(run(sql, "SELECT * FROM items").unwrap().rows.len(), 1);
    });
}
