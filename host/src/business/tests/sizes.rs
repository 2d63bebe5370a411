//! SQLite's own limits while a plugin's SQL runs, each with a statement that just fits and one that does not; and the settings
//! of each connection.

use rusqlite::{config::DbConfig, limits::Limit};

use super::*;
use crate::business::confinement::{narrow, widen};

/// Tables and triggers of a chain that is so many triggers long.
fn chain(length: usize) -> (String, String) {
    let tables: String = (0..=length)
        .map(|n| format!("CREATE TABLE c{length}_{n} (x);"))
        .collect();
    let triggers = (0..length)
        .map(|n| {
            let next = n + 1;
            format!("CREATE TRIGGER t{length}_{n} AFTER INSERT ON c{length}_{n} BEGIN INSERT INTO c{length}_{next} VALUES (1); END;")
        })
        .collect();
    (tables, triggers)
}

#[test]
fn each_of_sqlites_own_limits_is_low_and_holds() {
    let fixture = Fixture::new();
    let plugin = "p".parse().unwrap();
    let ((tables, triggers), (more_tables, more_triggers)) = (chain(16), chain(17));
    let list = migrations(&[TABLES, &tables, &more_tables]);
    fixture.store.install(&plugin, &list, at()).unwrap();
    fixture
        .store
        .seed(&plugin, &(triggers + &more_triggers), at())
        .unwrap();

    let columns = |n: usize| format!("SELECT {}1", "1, ".repeat(n - 1));
    let depth = |n: usize| format!("SELECT {}1{}", "(1 + ".repeat(n - 1), ")".repeat(n - 1));
    let compound = |n: usize| format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(n - 1));
    let arguments = |n: usize| format!("SELECT coalesce({}1)", "1, ".repeat(n - 1));
    let pattern = |n: usize| format!("SELECT 'a' LIKE '{}'", "a".repeat(n));
    let text = |n: usize| format!("SELECT '{}'", "a".repeat(n - 9));
    let chained = |n: usize| format!("INSERT INTO c{n}_0 VALUES (1)");
    let tables = |n: usize| {
        format!(
            "SELECT 1 FROM counters{}",
            " CROSS JOIN counters".repeat(n - 1)
        )
    };
    let inserts = "INSERT INTO counters VALUES ('x', ?256)";
    fixture.writing(|sql| {
        for (limit, fits, beyond) in [
            ("columns", columns(128), columns(129)),
            ("depth of an expression", depth(100), depth(101)),
            ("terms of a compound", compound(32), compound(33)),
            ("arguments of a function", arguments(64), arguments(65)),
            ("pattern of LIKE", pattern(100), pattern(101)),
            ("bytes of a statement", text(65_000), text(66_000)),
            ("triggers inside each other", chained(16), chained(17)),
            ("tables of a join", tables(64), tables(65)),
        ] {
            let result = run(sql, &fits);
            assert!(result.is_ok(), "{limit}: {result:?}");
            let result = run(sql, &beyond);
            assert!(matches!(result, Err(SqlFault::Limit(_))), "{limit}: {result:?}");
        }
        let values = vec![SqlValue::Integer(1); 256];
        assert_eq!(sql.execute(inserts, &values).unwrap(), 1);
        let result = sql.query("SELECT ?257", &[]);
        assert!(matches!(&result, Err(SqlFault::Limit(told)) if told.contains("variable")), "{result:?}");
        // Each subquery is compiled for itself: instructions, not bytes of text, are what this has too many of.
        let many = format!("SELECT {}1", "(SELECT count(*) FROM items a, items b, items c, parts d, parts e, counters f), ".repeat(120));
        let doubling = format!(
            "WITH a AS ({many}), b AS (SELECT * FROM a UNION ALL SELECT * FROM a UNION ALL SELECT * FROM a UNION ALL SELECT * FROM a),
             c AS (SELECT * FROM b UNION ALL SELECT * FROM b UNION ALL SELECT * FROM b UNION ALL SELECT * FROM b) SELECT * FROM c, c AS d, c AS e, c AS f"
        );
        let result = sql.query(&doubling, &[]);
        assert!(matches!(result, Err(SqlFault::Limit(_))), "{result:?}");
    });
}

#[test]
fn a_connection_of_a_plugin_can_attach_nothing_and_start_no_thread() {
    let fixture = Fixture::new();
    fixture
        .store
        .reading(|connection| {
            let host = narrow(connection, 1000, 1000, 25_000).unwrap();
            // In the host's phase, so that it is the limit which refuses.
            let refused = connection.execute("ATTACH ':memory:' AS other", ());
            assert!(
                refused
                    .unwrap_err()
                    .to_string()
                    .contains("too many attached databases")
            );
            for (limit, value) in [
                (Limit::SQLITE_LIMIT_LENGTH, 1000),
                (Limit::SQLITE_LIMIT_ATTACHED, 0),
                (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
                (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
            ] {
                assert_eq!(connection.limit(limit).unwrap(), value, "{limit:?}");
            }
            widen(connection, &host);
            assert!(connection.limit(Limit::SQLITE_LIMIT_LENGTH).unwrap() > 1_000_000);
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_connection_is_defensive_and_trusts_no_schema() {
    let fixture = Fixture::new();
    let check = |connection: &rusqlite::Connection| {
        for (setting, expected) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        ] {
            assert_eq!(
                connection.db_config(setting).unwrap(),
                expected,
                "{setting:?}"
            );
        }
    };
    let write = fixture.store.writer().unwrap().begin().unwrap();
    check(write.connection());
    drop(write);
    fixture
        .store
        .reading(|connection| {
            check(connection);
            Ok(())
        })
        .unwrap();
    // Defensive: not even the host writes the schema by mistake.
    fixture
        .store
        .reading(|connection| {
            connection
                .execute_batch("PRAGMA writable_schema = ON")
                .unwrap();
            let refused = connection.execute("UPDATE sqlite_schema SET sql = ''", ());
            assert!(
                refused
                    .unwrap_err()
                    .to_string()
                    .contains("may not be modified")
            );
            Ok(())
        })
        .unwrap();
}
