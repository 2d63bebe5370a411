//! What a plugin's SQL may not do, each kind in all its spellings.

use super::*;

const DENIED: &[&str] = &[
    // Reads of the host's tables.
    "SELECT * FROM wharf_ledger",
    "SELECT count(*) FROM wharf_ledger",
    "SELECT 1 FROM WHARF_LEDGER",
    "SELECT 1 FROM main.wharf_ledger",
    "SELECT 1 FROM \"wharf_ledger\"",
    "SELECT (SELECT task FROM wharf_ledger)",
    "SELECT EXISTS (SELECT 1 FROM wharf_ledger)",
    "SELECT 1 WHERE 1 IN (SELECT sequence FROM wharf_ledger)",
    "SELECT 1 WHERE 1 IN wharf_barrier",
    "WITH x AS (SELECT * FROM wharf_ledger) SELECT count(*) FROM x",
    "WITH wharf_ledger AS (SELECT 1) SELECT count(*) FROM wharf_ledger",
    "SELECT 1 FROM items JOIN wharf_anchors",
    "SELECT 1 FROM items NATURAL JOIN wharf_anchors",
    "SELECT count(*) FROM items, wharf_anchors",
    "SELECT count(*) FROM (SELECT 1 FROM wharf_workspace)",
    "INSERT INTO counters SELECT task, 1 FROM wharf_ledger",
    "INSERT INTO counters SELECT 'a', count(*) FROM wharf_ledger",
    "UPDATE counters SET value = (SELECT count(*) FROM wharf_ledger)",
    "UPDATE counters SET value = 1 FROM wharf_ledger",
    "DELETE FROM counters WHERE name IN (SELECT task FROM wharf_ledger)",
    "SELECT * FROM wharf_migrations",
    "SELECT * FROM wharf_tables",
    // Another plugin's tables.
    "SELECT * FROM others",
    "SELECT count(*) FROM others",
    "INSERT INTO others VALUES (1)",
    // Writes of the host's tables.
    "INSERT INTO wharf_ledger DEFAULT VALUES",
    "REPLACE INTO wharf_anchors VALUES ('t', 1, 'h')",
    "UPDATE wharf_ledger SET data = '{}'",
    "DELETE FROM wharf_ledger",
    "DELETE FROM wharf_barrier",
    "WITH x AS (SELECT 1) DELETE FROM wharf_ledger",
    "INSERT INTO wharf_barrier VALUES (1) RETURNING *",
    // The schema, and tables that SQLite makes up.
    "SELECT * FROM sqlite_master",
    "SELECT count(*) FROM sqlite_schema",
    "SELECT * FROM sqlite_temp_schema",
    "SELECT * FROM sqlite_sequence",
    "SELECT * FROM pragma_table_info('wharf_ledger')",
    "SELECT count(*) FROM pragma_table_info('wharf_ledger')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM dbstat",
    "SELECT count(*) FROM dbstat",
    "SELECT * FROM fts3tokenize",
    // Transactions.
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "END",
    "ROLLBACK",
    "SAVEPOINT a",
    "RELEASE a",
    "ROLLBACK TO a",
    // Other databases and settings.
    "ATTACH ':memory:' AS other",
    "ATTACH 'x.sqlite' AS other",
    "DETACH main",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous",
    "PRAGMA user_version",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA table_list",
    // Schema changes.
    "CREATE TABLE more (a)",
    "CREATE TABLE more AS SELECT 1",
    "CREATE TEMP TABLE more (a)",
    "CREATE INDEX more ON items (body)",
    "CREATE VIEW more AS SELECT 1",
    "CREATE TEMP VIEW more AS SELECT 1",
    "CREATE TRIGGER more AFTER INSERT ON items BEGIN DELETE FROM counters; END",
    "CREATE TEMP TRIGGER more AFTER INSERT ON items BEGIN DELETE FROM counters; END",
    "CREATE VIRTUAL TABLE more USING fts5 (a)",
    "CREATE VIRTUAL TABLE temp.more USING rtree (a, b, c)",
    "DROP TABLE items",
    "DROP INDEX items_small",
    "DROP VIEW small_items",
    "ALTER TABLE items ADD COLUMN x",
    "ALTER TABLE items RENAME TO y",
    "REINDEX",
    "REINDEX items",
    "ANALYZE",
    // Functions that are not pure, or that reach elsewhere.
    "SELECT random()",
    "SELECT hex(randomblob(4))",
    "SELECT datetime('now')",
    "SELECT date()",
    "SELECT julianday('now')",
    "SELECT strftime('%s')",
    "SELECT unixepoch()",
    "SELECT CURRENT_TIMESTAMP",
    "SELECT CURRENT_DATE",
    "SELECT load_extension('x')",
    "SELECT sqlite_version()",
    "SELECT sqlite_source_id()",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT last_insert_rowid()",
    "SELECT changes()",
    "SELECT total_changes()",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts5_source_id()",
    "SELECT zeroblob(10)",
    // Pure, but one call of them may run for minutes or fill the memory.
    "SELECT trim('a', 'b')",
    "SELECT ltrim('a')",
    "SELECT rtrim('a', 'b')",
    "SELECT unhex('00', 'x')",
    "SELECT json_pretty('[]', 'x')",
    "SELECT count(*) FROM items ORDER BY random()",
    "INSERT INTO counters VALUES ('a', random())",
    // Explanations, and more than one statement.
    "EXPLAIN SELECT 1",
    "EXPLAIN QUERY PLAN SELECT * FROM items",
    "EXPLAIN SELECT * FROM wharf_ledger",
    "SELECT 1; SELECT 2",
    "INSERT INTO counters VALUES ('a', 1); COMMIT",
    "SELECT 1; DELETE FROM wharf_ledger",
];

/// Refused by SQLite itself, before it asks the authorizer.
const REFUSED: &[&str] = &[
    "UPDATE sqlite_master SET sql = ''",
    "DELETE FROM sqlite_schema",
    "INSERT INTO sqlite_master DEFAULT VALUES",
    "VACUUM",
    "VACUUM INTO 'copy.sqlite'",
];

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
fn a_plugin_is_refused_whatever_is_not_its_own() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let before = fixture.outside().total_changes();
    fixture.writing(|sql| {
        assert_eq!(not_denied(sql, DENIED), [""; 0]);
        for text in REFUSED {
            let result = sql.execute(text, &[]);
            assert!(
                matches!(result, Err(SqlFault::Failed(_) | SqlFault::Denied(_))),
                "{text}: {result:?}"
            );
        }
        // And the call goes on undisturbed.
        add_item(sql, "after");
    });
    fixture.reading(|sql| {
        assert_eq!(not_denied(sql, DENIED), [""; 0]);
        assert_eq!(run(sql, "SELECT * FROM items").unwrap().rows.len(), 1);
    });
    assert_eq!(before, 0);
    assert_eq!(fixture.count("SELECT count(*) FROM wharf_ledger"), 1);
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 1);
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
