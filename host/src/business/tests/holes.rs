//! Ways out of a confined connection that were found, each with its attack.

use super::*;
use crate::words::error::Kind;

fn assert_lost(fixture: &Fixture, result: Result<Performed, Error>) {
    let error = result.unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("sql-transaction-ended", Kind::PluginFault),
        "{error:?}"
    );
    for table in [
        "items WHERE name = 'a'",
        "counters",
        "wharf_ledger",
        "wharf_anchors",
    ] {
        let count = fixture.count(&format!("SELECT count(*) FROM {table}"));
        assert_eq!(count, 0, "{table}");
    }
}

/// `OR ROLLBACK` ends the host's transaction and no hook is asked. The next statement of the plugin became durable on its
/// own, and a host that did not look wrote its ledger row outside any transaction. All ways there are in `attacks`.
#[test]
fn a_lost_transaction_is_told_to_the_caller_at_once_and_at_every_later_statement() {
    let fixture = Fixture::new();
    let result = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        add_item(&*sql, "a");
        for text in [
            "INSERT OR ROLLBACK INTO items (name, n) VALUES ('a', 1)",
            "INSERT INTO counters VALUES ('b', 1)",
        ] {
            let Err(SqlFault::Fatal(error)) = sql.execute(text, &[]) else {
                panic!("not told: {text}")
            };
            assert_eq!(error.code(), "sql-transaction-ended");
        }
        match sql.query("SELECT 1", &[]) {
            Err(SqlFault::Fatal(error)) => Err(error),
            other => panic!("not told: {other:?}"),
        }
    });
    assert_lost(&fixture, result);
}

/// A statement that the host had prepared was found in the cache for the same text from the plugin, and ran without the
/// authorizer: the plugin read the ledger.
#[test]
fn a_statement_that_the_host_has_prepared_is_not_the_plugins() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    // The host's own texts, as its cache holds them now, on the writing and on the reading connection.
    fixture.store.rows_of(&"t1".parse().unwrap()).unwrap();
    let texts = [
        "PRAGMA data_version",
        "PRAGMA schema_version",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "ROLLBACK",
        "SELECT sequence, head FROM wharf_anchors WHERE task = ?1",
        "SELECT plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool, \
         arguments_digest, data, sequence FROM wharf_ledger  WHERE task = ?1 ORDER BY sequence",
    ];
    let attempt = |sql: &dyn Sql| {
        for text in texts {
            let parameters = vec![SqlValue::Text("t1".into()); text.matches('?').count()];
            let result = sql.query(text, &parameters);
            assert!(
                matches!(result, Err(SqlFault::Denied(_))),
                "{text}: {result:?}"
            );
        }
    };
    fixture.writing(attempt);
    fixture.reading(attempt);
}

/// A trigger of the plugin on a table that the host writes ran with the host's rights and forged a ledger row. Plugins
/// create no trigger, neither at run time (see `denials`) nor in a migration; and what a trusted trigger does, it does
/// with the plugin's rights.
#[test]
fn a_trigger_has_only_the_rights_of_the_plugin() {
    let fixture = Fixture::new();
    let plugin = "p".parse().unwrap();
    let trigger = "CREATE TRIGGER forge AFTER INSERT ON items BEGIN DELETE FROM others; END";
    let mut list = migrations(&[TABLES, trigger]);
    let error = fixture.store.install(&plugin, &list, at()).unwrap_err();
    assert_eq!(error.code(), "plugin-script-refused");
    list[1].sql =
        "CREATE TRIGGER forge AFTER INSERT ON wharf_ledger BEGIN DELETE FROM items; END".into();
    let error = fixture.store.install(&plugin, &list, at()).unwrap_err();
    assert_eq!(error.code(), "plugin-script-refused");

    fixture.add("t1", "k1");
    let theirs = "INSERT INTO others VALUES ('theirs')";
    fixture
        .store
        .seed(&"q".parse().unwrap(), theirs, at())
        .unwrap();
    // What is the host's may not even be named; what another plugin calls its own shows when the trigger would run.
    let named = trigger.replace("others", "wharf_anchors");
    let error = fixture.store.seed(&plugin, &named, at()).unwrap_err();
    assert_eq!(error.code(), "plugin-script-refused");
    fixture.store.seed(&plugin, trigger, at()).unwrap();
    fixture.writing(|sql| {
        let result = sql.execute("INSERT INTO items (name, n) VALUES ('b', 1)", &[]);
        assert!(matches!(result, Err(SqlFault::Denied(_))), "{result:?}");
    });
    assert_eq!(fixture.count("SELECT count(*) FROM others"), 1);
    assert_eq!(fixture.count("SELECT count(*) FROM wharf_anchors"), 1);
}

/// One operation of SQLite's machine on a long value runs for seconds, and nothing interrupts it: 1 MiB took 2.6 s.
#[test]
fn values_are_too_short_for_an_operation_that_cannot_be_interrupted() {
    let fixture = Fixture::with(SqlLimits {
        sql_millis: some(20_000),
        lock_millis: some(20_000),
        ..SqlLimits::standard()
    });
    let began = crate::business::confinement::monotonic();
    fixture.writing(|sql| {
        let long = SqlValue::Text("a".repeat(1 << 20));
        for (text, parameters) in [
            ("SELECT instr(?1, 'b')", vec![long]),
            ("SELECT replace(printf('%.*c', 1000000, 'a'), 'aaaaaaaaab', 'b')", vec![]),
            ("SELECT instr(printf('%.*c', 1000000, 'a'), printf('%.*c', 500000, 'a') || 'b')", vec![]),
            ("SELECT hex(group_concat(x)) FROM (WITH RECURSIVE r (x) AS (SELECT 1000000 UNION ALL SELECT x + 1 FROM r LIMIT 50000) SELECT x FROM r)", vec![]),
        ] {
            let result = sql.query(text, &parameters);
            assert!(matches!(result, Err(SqlFault::Limit(_))), "{text}: {result:?}");
        }
        add_item(sql, "after");
    });
    let took = crate::business::confinement::monotonic() - began;
    assert!(took.as_secs() < 10, "took {took:?}");
}

/// A sort over endless rows took 2.1 GB before its budget of operations ended. Sorts spill to files, the clock ends them,
/// and SQLite's heap has a bound (see `limits`).
#[test]
fn an_endless_sort_ends_by_the_clock_and_does_not_fill_memory() {
    let fixture = Fixture::with(SqlLimits {
        sql_millis: some(200),
        ..SqlLimits::standard()
    });
    let before = resident_bytes();
    fixture.writing(|sql| {
        let endless = "WITH RECURSIVE r (i, x) AS (SELECT 1, printf('%.*c', 20000, 'a') UNION ALL SELECT i + 1, x FROM r)
                       SELECT x FROM r ORDER BY i DESC";
        let result = sql.query(endless, &[]);
        assert!(matches!(result, Err(SqlFault::Limit(_))), "{result:?}");
        // The time is used up for the whole call.
        let result = sql.query("SELECT 1", &[]);
        assert!(matches!(result, Err(SqlFault::Limit(_))), "{result:?}");
    });
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 200 << 20, "memory grew by {grown} bytes");
    assert!(matches!(fixture.add("t1", "k1"), Performed::Done { .. }));
}

/// Arithmetic on long texts of digits takes as long as they are, and the clock is looked at only where a program jumps: ten
/// thousand additions took 2.8 s where 1 s was allowed.
#[test]
fn a_statement_computes_only_so_much_between_two_looks_at_the_clock() {
    let fixture = Fixture::with(SqlLimits {
        sql_millis: some(60_000),
        lock_millis: some(60_000),
        ..SqlLimits::standard()
    });
    fixture.writing(|sql| {
        let with = |terms: usize, columns: usize| {
            let column = vec!["a"; terms].join(" + ");
            let columns = vec![column; columns].join(", ");
            let text = format!("WITH t (a) AS MATERIALIZED (SELECT '1') SELECT {columns} FROM t");
            run(sql, &text).map(|set| set.rows.len())
        };
        let result = with(90, 120);
        assert!(
            matches!(&result, Err(SqlFault::Denied(why)) if why.contains("too many functions")),
            "{result:?}"
        );
        assert!(matches!(with(90, 100), Ok(1)));
    });
}

/// Of the whole test process, which runs other tests beside this one.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|n| n.parse().ok());
    pages.unwrap_or(0usize) * 4096
}
