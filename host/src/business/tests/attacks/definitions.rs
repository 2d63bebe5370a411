//! Changing the schema at run time.

use super::{Attack, Refusal::Denied, attack};

const HERE: super::Refusal = Denied("here");
const TEMPORARY: super::Refusal = Denied("only the main database");

pub(super) const ATTACKS: &[Attack] = &[
    attack("create a table", HERE, &["CREATE TABLE more (a)"]),
    attack(
        "create a table from a query",
        HERE,
        &[
            "CREATE TABLE more AS SELECT 1",
            "CREATE TABLE more AS SELECT * FROM wharf_ledger",
        ],
    ),
    attack(
        "create what is there already",
        HERE,
        &[
            "CREATE TABLE IF NOT EXISTS items (id)",
            "CREATE TABLE IF NOT EXISTS wharf_ledger (id)",
        ],
    ),
    attack(
        "create a name of SQLite's",
        HERE,
        &["CREATE TABLE sqlite_more (a)"],
    ),
    attack(
        "create a temporary table",
        TEMPORARY,
        &["CREATE TEMP TABLE more (a)", "CREATE TABLE temp.more (a)"],
    ),
    attack(
        "shadow a table by a temporary one",
        Denied(""),
        &[
            "CREATE TEMP TABLE items (a)",
            "CREATE TEMP TABLE wharf_ledger (a)",
            "CREATE TEMPORARY TABLE sqlite_master2 AS SELECT 1",
        ],
    ),
    attack(
        "create an index",
        HERE,
        &[
            "CREATE INDEX more ON items (body)",
            "CREATE UNIQUE INDEX more ON counters (value)",
        ],
    ),
    attack(
        "create an index on another's table",
        HERE,
        &[
            "CREATE INDEX more ON wharf_ledger (task)",
            "CREATE INDEX more ON others (x)",
        ],
    ),
    attack(
        "create a view",
        HERE,
        &[
            "CREATE VIEW more AS SELECT 1",
            "CREATE VIEW more AS SELECT * FROM wharf_ledger",
        ],
    ),
    attack(
        "shadow a table by a temporary view",
        TEMPORARY,
        &[
            "CREATE TEMP VIEW more AS SELECT 1",
            "CREATE TEMP VIEW wharf_ledger AS SELECT 1",
        ],
    ),
    attack(
        "create a trigger",
        HERE,
        &["CREATE TRIGGER more AFTER INSERT ON items BEGIN DELETE FROM counters; END"],
    ),
    attack(
        "create a trigger on a host's table",
        HERE,
        &["CREATE TRIGGER more AFTER INSERT ON wharf_ledger BEGIN DELETE FROM items; END"],
    ),
    attack(
        "create a temporary trigger",
        TEMPORARY,
        &["CREATE TEMP TRIGGER more AFTER INSERT ON items BEGIN DELETE FROM counters; END"],
    ),
    attack(
        "create a temporary trigger on a host's table",
        HERE,
        &[
            "CREATE TEMP TRIGGER more AFTER INSERT ON main.wharf_ledger BEGIN DELETE FROM items; END",
        ],
    ),
    attack(
        "create a trigger that rolls back",
        HERE,
        &["CREATE TRIGGER more BEFORE INSERT ON items BEGIN SELECT RAISE(ROLLBACK, 'x'); END"],
    ),
    attack(
        "create a trigger on a view",
        HERE,
        &["CREATE TRIGGER more INSTEAD OF INSERT ON small_items BEGIN DELETE FROM items; END"],
    ),
    attack(
        "create a full-text table",
        HERE,
        &[
            "CREATE VIRTUAL TABLE more USING fts5 (a)",
            "CREATE VIRTUAL TABLE more USING fts4 (content='wharf_ledger')",
        ],
    ),
    attack(
        "create a table of another module",
        HERE,
        &[
            "CREATE VIRTUAL TABLE more USING dbstat",
            "CREATE VIRTUAL TABLE more USING rtree (a, b, c)",
            "CREATE VIRTUAL TABLE more USING fts5vocab ('items', 'row')",
            "CREATE VIRTUAL TABLE more USING nowhere",
        ],
    ),
    attack(
        "create a temporary virtual table",
        TEMPORARY,
        &["CREATE VIRTUAL TABLE temp.more USING rtree (a, b, c)"],
    ),
    attack("drop an own table", HERE, &["DROP TABLE items"]),
    attack(
        "drop another's table",
        HERE,
        &[
            "DROP TABLE wharf_ledger",
            "DROP TABLE others",
            "DROP TABLE IF EXISTS main.wharf_anchors",
        ],
    ),
    attack(
        "drop an index",
        HERE,
        &["DROP INDEX items_small", "DROP INDEX wharf_ledger_task"],
    ),
    attack(
        "drop a view",
        HERE,
        &["DROP VIEW small_items", "DROP VIEW glimpse"],
    ),
    attack("drop a trigger", HERE, &["DROP TRIGGER roll"]),
    attack(
        "drop what there is not",
        HERE,
        &[
            "DROP TABLE IF EXISTS nowhere",
            "DROP VIEW IF EXISTS nowhere",
            "DROP TRIGGER IF EXISTS nowhere",
            "DROP INDEX IF EXISTS nowhere",
        ],
    ),
    attack(
        "add a column",
        HERE,
        &[
            "ALTER TABLE items ADD COLUMN x",
            "ALTER TABLE wharf_ledger ADD COLUMN x",
        ],
    ),
    attack(
        "drop a column",
        TEMPORARY,
        &["ALTER TABLE items DROP COLUMN body"],
    ),
    attack(
        "rename a table",
        HERE,
        &[
            "ALTER TABLE items RENAME TO y",
            "ALTER TABLE wharf_ledger RENAME TO y",
        ],
    ),
    attack(
        "rename a column",
        HERE,
        &["ALTER TABLE counters RENAME COLUMN value TO y"],
    ),
    attack(
        "build indexes anew",
        HERE,
        &["REINDEX", "REINDEX items", "REINDEX items_small"],
    ),
    attack(
        "build indexes of a collation that has none",
        HERE,
        &["REINDEX rtrim"],
    ),
    attack(
        "gather statistics",
        HERE,
        &[
            "ANALYZE",
            "ANALYZE items",
            "ANALYZE main",
            "ANALYZE sqlite_schema",
        ],
    ),
];
