//! Every limit of `SqlLimits`, with a test in which it is reached.

use std::num::NonZeroU64;

use super::*;
use crate::{business::confinement::monotonic, words::error::Kind};

const ENDLESS: &str =
    "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r";
const TEN: &str =
    "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10) SELECT i FROM r";

fn is_limit<T>(result: Result<T, SqlFault>) -> bool {
    matches!(result, Err(SqlFault::Limit(_)))
}

#[test]
fn a_query_returns_at_most_so_many_rows() {
    for (allowed, fits) in [(9, false), (10, true)] {
        let fixture = Fixture::with(SqlLimits {
            rows_per_query: some(allowed),
            ..SqlLimits::standard()
        });
        fixture.reading(|sql| {
            assert_eq!(is_limit(sql.query(TEN, &[])), !fits);
            assert_eq!(sql.query("SELECT 1", &[]).unwrap().rows.len(), 1);
        });
    }
}

#[test]
fn the_queries_of_a_call_return_at_most_so_many_bytes_together() {
    let fixture = Fixture::with(SqlLimits {
        bytes_per_call: some(1000),
        ..SqlLimits::standard()
    });
    let text = "SELECT printf('%.*c', 400, 'a') AS a";
    for _ in 0..2 {
        fixture.reading(|sql| {
            assert!(sql.query(text, &[]).is_ok());
            assert!(sql.query(text, &[]).is_ok());
            assert!(is_limit(sql.query(text, &[])));
        });
    }
}

#[test]
fn a_write_that_returns_too_much_is_given_up_with_its_call() {
    let fixture = Fixture::with(SqlLimits {
        rows_per_query: some(1),
        ..SqlLimits::standard()
    });
    let result = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        let result = sql.query(
            "INSERT INTO counters VALUES ('a', 1), ('b', 2) RETURNING name",
            &[],
        );
        assert!(matches!(result, Err(SqlFault::Fatal(_))), "{result:?}");
        done()
    });
    let error = result.unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("sql-returned-too-much", Kind::PluginFault)
    );
    assert_eq!(fixture.count("SELECT count(*) FROM counters"), 0);
}

#[test]
fn a_value_has_at_most_so_many_bytes() {
    let fixture = Fixture::with(SqlLimits {
        value_bytes: some(1000),
        ..SqlLimits::standard()
    });
    fixture.writing(|sql| {
        let body = |bytes: usize| [SqlValue::Text("a".repeat(bytes))];
        let insert = "INSERT INTO items (name, n, body) VALUES ('a', 1, ?1)";
        assert!(is_limit(sql.execute(insert, &body(1001))));
        assert!(
            is_limit(sql.execute(insert, &body(999))),
            "the row is longer"
        );
        assert!(sql.execute(insert, &body(900)).is_ok());
        assert!(is_limit(sql.query("SELECT body || body FROM items", &[])));
    });
    // The host's own values are not the plugin's.
    let result = fixture.store.perform(&operation("t1", "k1"), &mut |_| {
        Ok(Ok(StepAnswer::Done {
            state: "done".into(),
            data: JsonText::of(&"a".repeat(5000)),
        }))
    });
    assert!(result.is_ok());
}

#[test]
fn the_statements_of_a_call_take_at_most_so_long_together() {
    let fixture = Fixture::with(SqlLimits {
        sql_millis: some(50),
        ..SqlLimits::standard()
    });
    let began = monotonic();
    fixture.reading(|sql| {
        assert!(is_limit(sql.query(ENDLESS, &[])));
        assert!(is_limit(sql.query("SELECT 1", &[])));
    });
    let took = (monotonic() - began).as_millis();
    assert!((50..2000).contains(&took), "took {took} ms");
    // The next call has its own time, on the same connection.
    fixture.reading(|sql| assert!(sql.query("SELECT 1", &[]).is_ok()));
}

/// A statement may be short to write and endless to prepare: each expression doubles the one before it.
#[test]
fn preparing_a_statement_takes_from_the_same_time() {
    let fixture = Fixture::with(SqlLimits {
        sql_millis: some(100),
        ..SqlLimits::standard()
    });
    let expressions: Vec<_> = (1..60)
        .map(|n| format!("c{n} AS (SELECT a.x FROM c{0} AS a, c{0} AS b)", n - 1))
        .collect();
    let doubling = format!(
        "WITH c0 AS (SELECT 1 AS x), {} SELECT count(*) FROM c59",
        expressions.join(", ")
    );
    let began = monotonic();
    fixture.reading(|sql| {
        let result = sql.query(&doubling, &[]);
        assert!(result.is_err(), "{result:?}");
    });
    let took = (monotonic() - began).as_millis();
    assert!(took < 5000, "took {took} ms");
}

#[test]
fn an_operation_holds_the_write_lock_for_at_most_so_long() {
    let fixture = Fixture::with(SqlLimits {
        lock_millis: some(50),
        ..SqlLimits::standard()
    });
    let began = monotonic();
    let in_sql = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        assert!(is_limit(sql.query(ENDLESS, &[])));
        done()
    });
    assert!((monotonic() - began).as_millis() < 2000);
    let in_the_plugin = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        add_item(&*sql, "a");
        let began = monotonic();
        while (monotonic() - began).as_millis() <= 50 {
            std::hint::spin_loop();
        }
        done()
    });
    for result in [in_sql, in_the_plugin] {
        let error = result.unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("business-lock-held-too-long", Kind::Limit)
        );
    }
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 0);
}

#[test]
fn an_installation_takes_at_most_so_long() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(
        &folder,
        SqlLimits {
            install_millis: some(50),
            ..SqlLimits::standard()
        },
    );
    let plugin = "p".parse().unwrap();
    let fill = format!("CREATE TABLE a (x); INSERT INTO a {ENDLESS}");
    let error = store
        .install(&plugin, &migrations(&[&fill]), at())
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("plugin-script-limit", Kind::Limit)
    );
    store
        .install(&plugin, &migrations(&["CREATE TABLE a (x)"]), at())
        .unwrap();
    let error = store.seed(&plugin, ENDLESS, at()).unwrap_err();
    assert_eq!(error.code(), "plugin-script-limit");
}

#[test]
fn another_process_is_waited_for_at_most_so_long() {
    let fixture = Fixture::with(SqlLimits {
        busy_millis: some(20),
        ..SqlLimits::standard()
    });
    let outside = fixture.outside();
    outside.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = monotonic();
    let error = fixture
        .store
        .perform(&operation("t1", "k1"), &mut |_| panic!("called"))
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        ("database-locked", Kind::Unavailable)
    );
    assert!((20..5000).contains(&(monotonic() - began).as_millis()));
    // Readers do not wait, and the lock's end is enough.
    fixture.reading(|sql| assert!(run(sql, "SELECT * FROM items").is_ok()));
    outside.execute_batch("COMMIT").unwrap();
    fixture.add("t1", "k1");
}

/// The limit is the process's and can only be lowered, so the test runs itself in a process of its own.
#[test]
#[allow(clippy::disallowed_methods, reason = "the test starts itself again")]
fn sqlite_uses_at_most_so_much_memory() {
    const CHILD: &str = "WHARF_TEST_HEAP_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "business::tests::limits::sqlite_uses_at_most_so_much_memory",
            ])
            .env(CHILD, "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        return;
    }
    let fixture = Fixture::with(SqlLimits {
        heap_bytes: NonZeroU64::new(16 << 20).unwrap(),
        value_bytes: some(256 * 1024),
        sql_millis: some(20_000),
        lock_millis: some(20_000),
        ..SqlLimits::standard()
    });
    // A hundred and twenty texts of 200 KB side by side: 24 MB, each of them short enough.
    let texts: Vec<_> = (0..120)
        .map(|n| format!("length(group_concat(x || {n}))"))
        .collect();
    let bomb = format!(
        "WITH RECURSIVE r (i, x) AS (SELECT 1, printf('%.*c', 1000, 'a') UNION ALL SELECT i + 1, x FROM r WHERE i < 200)
         SELECT {} FROM r",
        texts.join(", ")
    );
    fixture.writing(|sql| {
        let result = sql.query(&bomb, &[]);
        assert!(
            matches!(&result, Err(SqlFault::Limit(reason)) if reason.contains("memory")),
            "{result:?}"
        );
    });
    fixture.add("t1", "k1");
}
