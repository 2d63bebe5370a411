//! What a migration and a seed are refused: with one statement of them, all of the script.

use super::{everything, field};
use crate::{
    business::{
        check_seed,
        tests::{TABLES, at, migrations},
    },
    words::error::Kind,
};

/// A mechanism and its spellings.
type Attack = (&'static str, &'static [&'static str]);

macro_rules! thirty {
    ($text:literal) => {
        concat!(
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text,
        )
    };
}

const MIGRATIONS: &[Attack] = &[
    (
        "migration: parameter that goes on over quotes",
        &[
            "INSERT INTO counters SELECT name || seq || coalesce($a('), ''), 1 FROM sqlite_sequence FULL JOIN (SELECT 0 AS name, 0 AS seq) USING (name, seq) WHERE coalesce($b('), 1)",
            "INSERT INTO counters SELECT task || coalesce(:a(\"), ''), 1 FROM wharf_anchors FULL JOIN (SELECT 0 AS task) USING (task) WHERE coalesce(:b(\"), 1)",
        ],
    ),
    (
        "migration: added column whose functions run at once",
        &[
            "CREATE TABLE z (a); INSERT INTO z VALUES (2451545.5); ALTER TABLE z ADD COLUMN c AS (datetime(a)); CREATE INDEX zi ON z (c); INSERT INTO counters SELECT c || '!', 1 FROM z INDEXED BY zi; DROP TABLE z",
            "CREATE TABLE z (a); INSERT INTO z VALUES (' a '); ALTER TABLE z ADD c AS (trim(a)); DROP TABLE z",
            "CREATE TABLE z (a); INSERT INTO z VALUES (1); ALTER TABLE z ADD COLUMN c CHECK (length(randomblob(9)) = 9 AND length(zeroblob(9)) = 9); DROP TABLE z",
            "CREATE TABLE z (a); INSERT INTO z VALUES (1); ALTER TABLE main.'z' ADD c CHECK (date() > '2000') -- )\n; DROP TABLE z",
            "CREATE TABLE z (a TEXT, b TEXT, CHECK (a <> b)); INSERT INTO z VALUES (printf('%.*c', 9000, 'a'), printf('%.*c', 9000, 'b')); ALTER TABLE z ADD COLUMN c CHECK (length(ltrim(a, b)) > 0 OR c > 0); DROP TABLE z",
        ],
    ),
    (
        "migration: added column that copies functions",
        &[concat!(
            "CREATE TABLE z (a TEXT, b AS (a",
            thirty!(" GLOB 'x'"),
            ")); INSERT INTO z VALUES ('a'); ALTER TABLE z ADD COLUMN c CHECK (b",
            thirty!("+b"),
            "+c IS NULL); DROP TABLE z",
        )],
    ),
    (
        "migration: index that copies functions",
        &[concat!(
            "CREATE TABLE z (a TEXT, b AS (a",
            thirty!(" GLOB 'x'"),
            "), c AS (b",
            thirty!("+b"),
            ")); INSERT INTO z VALUES ('a'); CREATE INDEX zi ON z (c); DROP TABLE z",
        )],
    ),
    (
        "migration: view of a table that is optimised away",
        &[
            "CREATE VIEW v AS SELECT 1 AS one FROM (SELECT 1 AS x) LEFT JOIN others USING (x)",
            "CREATE VIEW v AS WITH w AS (SELECT * FROM others) SELECT 1 AS one",
            "CREATE VIEW v AS WITH w AS (SELECT x FROM glimpse) SELECT 1 AS one",
            "CREATE VIEW v AS SELECT 1 AS one FROM items WHERE 0 AND EXISTS (SELECT 1 FROM others)",
            "CREATE VIEW v AS SELECT id FROM items LEFT JOIN others ON others.rowid = items.id",
        ],
    ),
    (
        "migration: probe another plugin's columns and indexes",
        &[
            "SELECT zzz FROM others",
            "CREATE INDEX i ON others (zzz)",
            "ALTER TABLE others RENAME COLUMN zzz TO y",
            "ALTER TABLE others ADD COLUMN x",
            "CREATE TABLE a (x REFERENCES others (zzz)); INSERT INTO a VALUES (1); DROP TABLE a",
        ],
    ),
    (
        "migration: deferred key that does not hold at its end",
        &["INSERT INTO promises VALUES (1, 4711)"],
    ),
    (
        "migration: NUL",
        &[
            "CREATE TABLE a (x)\0",
            "CREATE TABLE a (x); \0",
            "CREATE TABLE a (x);\0 CREATE TABLE others (x)",
        ],
    ),
    (
        "migration: trigger",
        &[
            "CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM counters; END",
            "CREATE TRIGGER IF NOT EXISTS t INSTEAD OF DELETE ON small_items BEGIN SELECT 1; END",
        ],
    ),
    (
        "migration: trigger on the ledger",
        &["CREATE TRIGGER t AFTER INSERT ON wharf_ledger BEGIN DELETE FROM items; END"],
    ),
    (
        "migration: temporary trigger",
        &["CREATE TEMP TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM counters; END"],
    ),
    (
        "migration: name of the host's",
        &[
            "CREATE TABLE wharf_mine (x)",
            "CREATE TABLE \"WHARF_mine\" (x)",
            "CREATE TABLE pragma_mine (x)",
            "CREATE VIEW wharf_mine AS SELECT 1",
            "CREATE INDEX wharf_mine ON items (name)",
            "ALTER TABLE items RENAME TO wharf_mine",
            "CREATE TABLE sqlite_mine (x)",
            "CREATE TABLE json_each (x)",
            "ALTER TABLE items RENAME TO json_each",
            "ALTER TABLE items RENAME TO \"JSON_Tree\"",
            "ALTER TABLE items RENAME TO dbstat",
            "CREATE TABLE mine (wharf_x)",
        ],
    ),
    (
        "migration: name of another plugin's table",
        &[
            "CREATE TABLE others (x)",
            "CREATE TABLE IF NOT EXISTS others (x)",
            "CREATE VIEW Others AS SELECT 1",
            "ALTER TABLE items RENAME TO others",
            "CREATE TABLE IF NOT EXISTS wharf_ledger (x)",
        ],
    ),
    (
        "migration: name of another plugin's view or index",
        &[
            "CREATE TABLE glimpse (x)",
            "CREATE INDEX others_x ON items (name)",
            "CREATE TABLE others_x (x)",
        ],
    ),
    (
        "migration: index on another's table",
        &[
            "CREATE INDEX i ON others (x)",
            "CREATE INDEX i ON wharf_ledger (task)",
        ],
    ),
    (
        "migration: drop another's table",
        &[
            "DROP TABLE others",
            "DROP TABLE wharf_ledger",
            "DROP INDEX wharf_ledger_task",
            "DROP VIEW glimpse",
        ],
    ),
    (
        "migration: change another's table",
        &[
            "ALTER TABLE others ADD COLUMN y",
            "ALTER TABLE wharf_ledger ADD COLUMN y",
            "ALTER TABLE wharf_ledger RENAME COLUMN task TO y",
            "ALTER TABLE others RENAME TO mine",
        ],
    ),
    (
        "migration: change of a column or a constraint that rewrites the table",
        &[
            "ALTER TABLE items DROP COLUMN body",
            "ALTER TABLE counters ALTER COLUMN name SET NOT NULL",
            "ALTER TABLE counters ADD CONSTRAINT c CHECK (value > 0)",
        ],
    ),
    (
        "migration: rows of another's table",
        &[
            "INSERT INTO others VALUES (1)",
            "DELETE FROM wharf_ledger",
            "UPDATE others SET x = 1",
            "SELECT * FROM wharf_ledger",
        ],
    ),
    (
        "migration: own a table by a row",
        &[
            "INSERT INTO wharf_tables VALUES ('others', 'p', 'table')",
            "UPDATE wharf_plugin_migrations SET plugin = 'p'",
        ],
    ),
    (
        "migration: table from a query",
        &[
            "CREATE TABLE copy AS SELECT * FROM wharf_ledger",
            "CREATE TABLE copy AS SELECT * FROM sqlite_master",
            "CREATE TABLE copy AS SELECT * FROM items",
        ],
    ),
    (
        "migration: rows from the schema",
        &["INSERT INTO counters SELECT name, 1 FROM sqlite_master"],
    ),
    (
        "migration: write the schema",
        &[
            "UPDATE sqlite_master SET sql = 'x' WHERE name = 'others'",
            "DELETE FROM sqlite_sequence",
        ],
    ),
    (
        "migration: view of another's table",
        &[
            "CREATE VIEW v AS SELECT * FROM wharf_ledger",
            "CREATE VIEW v AS SELECT count(*) AS n FROM wharf_ledger",
            "CREATE VIEW v AS SELECT * FROM others",
            "CREATE VIEW v AS SELECT * FROM glimpse",
            "CREATE VIEW v AS SELECT (SELECT max(x) FROM others) AS x FROM items",
        ],
    ),
    (
        "migration: view of a shared column",
        &[
            "CREATE VIEW v AS SELECT task FROM wharf_ledger FULL JOIN (SELECT 0 AS task) USING (task)",
            "CREATE VIEW v AS SELECT x FROM others FULL JOIN (SELECT 0 AS x) USING (x)",
            "CREATE VIEW v AS SELECT 1 AS one FROM others NATURAL JOIN (SELECT 'theirs' AS x)",
            "CREATE VIEW v AS SELECT x FROM others NATURAL FULL JOIN (SELECT 0 AS x); INSERT INTO counters SELECT x, 1 FROM v",
        ],
    ),
    (
        "migration: rows of a shared column",
        &[
            "INSERT INTO counters (name, value) WITH g (head) AS (SELECT 0) SELECT head, 1 FROM wharf_anchors FULL JOIN g USING (head)",
            "INSERT INTO counters (name, value) SELECT x, 1 FROM others FULL JOIN (SELECT 0 AS x) USING (x)",
            "SELECT x FROM others NATURAL FULL JOIN (SELECT 0 AS x)",
        ],
    ),
    (
        "migration: view of a pragma or a module",
        &[
            "CREATE VIEW v AS SELECT * FROM pragma_table_list",
            "CREATE VIEW v AS SELECT * FROM dbstat",
            "CREATE VIEW v AS SELECT * FROM sqlite_schema",
        ],
    ),
    (
        "migration: view that calls what is not pure",
        &[
            "CREATE VIEW v AS SELECT random() AS r",
            "CREATE VIEW v AS SELECT CURRENT_TIMESTAMP AS r",
        ],
    ),
    (
        "migration: default that is not pure",
        &[
            "CREATE TABLE a (x DEFAULT (random()))",
            "CREATE TABLE a (x DEFAULT CURRENT_TIMESTAMP)",
            "ALTER TABLE items ADD COLUMN x DEFAULT (random())",
        ],
    ),
    (
        "migration: check that is not pure",
        &[
            "CREATE TABLE a (x CHECK (x > random()))",
            "CREATE TABLE a (x, CHECK (load_extension('x')))",
            "ALTER TABLE items ADD COLUMN x CHECK (total_changes() >= 0)",
            "ALTER TABLE items ADD COLUMN x CHECK (x IS NULL OR last_insert_rowid() = x)",
            "ALTER TABLE items ADD COLUMN x CHECK (ltrim(x, 'a') = x)",
            "ALTER TABLE parts ADD COLUMN x CHECK (sqlite_version() > '')",
            "ALTER TABLE parts ADD COLUMN x CHECK (length(zeroblob(n)) >= 0)",
            "ALTER TABLE counters ADD COLUMN x CHECK (random() <> 0); INSERT INTO counters (name) VALUES ('a')",
        ],
    ),
    (
        "migration: generated column that is not pure",
        &[
            "CREATE TABLE a (x, y GENERATED ALWAYS AS (sqlite_version()))",
            "ALTER TABLE items ADD COLUMN x GENERATED ALWAYS AS (sqlite_version())",
            "ALTER TABLE counters ADD COLUMN x GENERATED ALWAYS AS (ltrim(name)) VIRTUAL",
        ],
    ),
    (
        "migration: check that calls too many functions",
        &[concat!(
            "ALTER TABLE items ADD COLUMN x CHECK (",
            "x GLOB 'a' + x GLOB 'b' + x GLOB 'c' + x GLOB 'd' + x GLOB 'e' + x GLOB 'f' + x GLOB 'g' + x GLOB 'h' + x GLOB 'i' + x GLOB 'j' > 0);",
            "ALTER TABLE items ADD COLUMN y CHECK (",
            "y GLOB 'a' + y GLOB 'b' + y GLOB 'c' + y GLOB 'd' + y GLOB 'e' + y GLOB 'f' + y GLOB 'g' + y GLOB 'h' + y GLOB 'i' + y GLOB 'j' > 0);",
            "ALTER TABLE items ADD COLUMN z CHECK (",
            "z GLOB 'a' + z GLOB 'b' + z GLOB 'c' + z GLOB 'd' + z GLOB 'e' + z GLOB 'f' + z GLOB 'g' + z GLOB 'h' + z GLOB 'i' + z GLOB 'j' > 0);",
            "ALTER TABLE items ADD COLUMN w CHECK (",
            "w GLOB 'a' + w GLOB 'b' + w GLOB 'c' + w GLOB 'd' + w GLOB 'e' + w GLOB 'f' + w GLOB 'g' + w GLOB 'h' + w GLOB 'i' + w GLOB 'j' > 0)",
        )],
    ),
    (
        "migration: index of what is not pure",
        &[
            "CREATE INDEX i ON items (random())",
            "CREATE INDEX i ON items (name) WHERE n > total_changes()",
        ],
    ),
    (
        "migration: foreign key to the host's table",
        &[
            "CREATE TABLE a (x REFERENCES wharf_ledger (task))",
            "CREATE TABLE a (x, FOREIGN KEY (x) REFERENCES Wharf_Anchors (task) ON DELETE CASCADE)",
        ],
    ),
    (
        "migration: foreign key to another plugin's table",
        &[
            "CREATE TABLE a (x REFERENCES others (x))",
            "ALTER TABLE items ADD COLUMN x REFERENCES others (x)",
        ],
    ),
    (
        "migration: foreign key to what there is not yet",
        &[
            "CREATE TABLE a (x REFERENCES nowhere (x))",
            "DROP TABLE items",
        ],
    ),
    (
        "migration: ON CONFLICT ROLLBACK",
        &[
            "CREATE TABLE a (x UNIQUE ON CONFLICT ROLLBACK)",
            "CREATE TABLE a (x NOT NULL on /* */ conflict\n rollback)",
            "CREATE TABLE a (x PRIMARY KEY ON CONFLICT ROLLBACK) WITHOUT ROWID",
            "ALTER TABLE items ADD COLUMN x NOT NULL ON CONFLICT ROLLBACK DEFAULT 1",
            "CREATE TABLE a (x CHECK (x > 0) ON CONFLICT ROLLBACK)",
            "CREATE TABLE a (x UNIQUE ON CONFLICT \u{feff}ROLLBACK)",
            "CREATE TABLE a (x UNIQUE ON \u{feff}CONFLICT \u{feff}\u{feff}ROLLBACK)",
            "CREATE TABLE a (x UNIQUE ON CONFLICT \u{b}ROLLBACK)",
        ],
    ),
    (
        "migration: temporary table",
        &[
            "CREATE TEMP TABLE a (x)",
            "CREATE TABLE temp.a (x)",
            "CREATE TEMP VIEW a AS SELECT 1",
        ],
    ),
    (
        "migration: virtual table",
        &[
            "CREATE VIRTUAL TABLE a USING fts5 (x)",
            "CREATE VIRTUAL TABLE a USING dbstat",
            "CREATE VIRTUAL TABLE a USING rtree (a, b, c)",
        ],
    ),
    (
        "migration: change or roll back",
        &[
            "INSERT OR ROLLBACK INTO counters VALUES ('a', 1), ('a', 1)",
            "UPDATE OR ROLLBACK items SET n = -1",
        ],
    ),
    (
        "migration: attach",
        &["ATTACH ':memory:' AS x", "DETACH main"],
    ),
    (
        "migration: pragma",
        &[
            "PRAGMA user_version = 7",
            "PRAGMA writable_schema = ON",
            "PRAGMA foreign_keys = OFF",
        ],
    ),
    (
        "migration: end the transaction",
        &["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE a"],
    ),
    (
        "migration: other statements",
        &[
            "VACUUM",
            "VACUUM INTO 'copy.sqlite'",
            "REINDEX",
            "ANALYZE",
            "EXPLAIN SELECT 1",
        ],
    ),
];

const SEEDS: &[Attack] = &[
    (
        "seed: rows of another's table",
        &[
            "DELETE FROM wharf_ledger",
            "SELECT * FROM wharf_ledger",
            "INSERT INTO wharf_anchors VALUES ('t', 1, 'h')",
            "INSERT INTO others VALUES (1)",
        ],
    ),
    (
        "seed: rows of a shared column",
        &[
            "INSERT INTO counters (name, value) SELECT head, 1 FROM wharf_anchors FULL JOIN (SELECT 0 AS head) USING (head)",
            "INSERT INTO counters (name, value) SELECT x, 1 FROM others FULL JOIN (SELECT 0 AS x) USING (x)",
        ],
    ),
    (
        "seed: parameter that goes on over quotes",
        &[
            "INSERT INTO counters SELECT name || seq || coalesce($a('), ''), 1 FROM sqlite_sequence FULL JOIN (SELECT 0 AS name, 0 AS seq) USING (name, seq) WHERE coalesce($b('), 1)",
        ],
    ),
    (
        "seed: trigger on another's table",
        &[
            "CREATE TRIGGER t AFTER INSERT ON wharf_ledger BEGIN DELETE FROM items; END",
            "CREATE TRIGGER t AFTER INSERT ON others BEGIN DELETE FROM items; END",
            "CREATE TEMP TRIGGER t AFTER INSERT ON others BEGIN DELETE FROM items; END",
        ],
    ),
    (
        "seed: trigger with a name of the host's",
        &["CREATE TRIGGER wharf_t AFTER INSERT ON items BEGIN DELETE FROM items; END"],
    ),
    (
        "seed: definitions",
        &[
            "CREATE TABLE more (x)",
            "CREATE INDEX more ON items (n)",
            "CREATE VIEW more AS SELECT 1",
            "DROP TABLE items",
            "ALTER TABLE items ADD COLUMN x",
            "CREATE VIRTUAL TABLE more USING fts5 (x)",
        ],
    ),
    ("seed: end the transaction", &["COMMIT", "ROLLBACK"]),
    (
        "seed: settings and files",
        &[
            "PRAGMA foreign_keys = OFF",
            "ATTACH ':memory:' AS x",
            "VACUUM INTO 'copy.sqlite'",
        ],
    ),
    (
        "seed: functions",
        &[
            "SELECT random()",
            "INSERT INTO counters VALUES ('a', unixepoch())",
        ],
    ),
];

pub(super) fn mechanisms() -> impl Iterator<Item = &'static str> {
    [MIGRATIONS, SEEDS]
        .into_iter()
        .flatten()
        .map(|attack| attack.0)
}

/// What SQLite refuses before it asks anybody, it says in its own words.
fn is_refused(code: &str, kind: Kind) -> bool {
    matches!(code, "plugin-script-refused" | "plugin-script-failed") && kind == Kind::InvalidInput
}

#[test]
fn a_migration_that_goes_beyond_the_plugins_own_is_refused_whole() {
    let fixture = field();
    let plugin = "p".parse().unwrap();
    let applied: Vec<String> = fixture
        .outside()
        .prepare("SELECT version FROM wharf_plugin_migrations WHERE plugin = 'p'")
        .unwrap()
        .query_map((), |row| {
            row.get::<_, i64>(0).map(|version| version.to_string())
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(applied, ["1", "2"]);
    let before = everything(&fixture);
    for (mechanism, texts) in MIGRATIONS {
        for text in *texts {
            let script = format!("CREATE TABLE before (x); {text}; CREATE TABLE after (x);");
            let list = migrations(&[TABLES, super::MORE, &script]);
            match fixture.store.install(&plugin, &list, at()) {
                Err(error) if is_refused(error.code(), error.kind()) => {}
                other => panic!("{mechanism}: {text}: {other:?}"),
            }
            assert_eq!(everything(&fixture), before, "{mechanism}: {text}");
        }
    }
    fixture.add("t1", "k1");
}

#[test]
fn a_seed_keeps_to_the_plugins_tables() {
    let fixture = super::unseeded();
    let plugin = "p".parse().unwrap();
    let before = everything(&fixture);
    for (mechanism, texts) in SEEDS {
        for text in *texts {
            let script = format!("INSERT INTO counters VALUES ('a', 1); {text}");
            match fixture.store.seed(&plugin, &script, at()) {
                Err(error) if is_refused(error.code(), error.kind()) => {}
                other => panic!("{mechanism}: {text}: {other:?}"),
            }
            assert_eq!(everything(&fixture), before, "{mechanism}: {text}");
            // In memory there is only this plugin.
            let limits = fixture.store.limits();
            let error = check_seed(&plugin, &migrations(&[TABLES]), &script, limits);
            assert!(error.is_err(), "{mechanism}: {text}");
        }
    }
    let error = fixture
        .store
        .seed(&plugin, "INSERT INTO nowhere VALUES (1)", at())
        .unwrap_err();
    assert_eq!(error.code(), "plugin-script-failed");
    assert_eq!(everything(&fixture), before);
}
