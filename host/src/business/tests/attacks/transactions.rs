//! Ending the host's transaction, slipping a second statement in, using a statement of somebody else.

use super::{
    Attack,
    Refusal::{Denied, Lost},
    attack,
};

const ENDS: super::Refusal = Denied("the host begins and ends transactions");
const ENDED: super::Refusal = Lost("sql-transaction-ended");

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "begin",
        ENDS,
        &["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE TRANSACTION"],
    ),
    attack(
        "commit",
        ENDS,
        &["COMMIT", "END", "COMMIT TRANSACTION", "end transaction"],
    ),
    attack("roll back", ENDS, &["ROLLBACK", "ROLLBACK TRANSACTION"]),
    attack("savepoint", ENDS, &["SAVEPOINT a", "SAVEPOINT \"wharf\""]),
    attack(
        "release a savepoint",
        ENDS,
        &["RELEASE a", "RELEASE SAVEPOINT a"],
    ),
    attack(
        "roll back to a savepoint",
        ENDS,
        &["ROLLBACK TO a", "ROLLBACK TRANSACTION TO SAVEPOINT a"],
    ),
    attack(
        "hide the verb behind comments",
        ENDS,
        &[
            "/* SELECT 1 */ COMMIT",
            "-- SELECT 1\nCOMMIT",
            "/**//**/\t\n/* -- */ROLLBACK",
        ],
    ),
    attack(
        "hide the verb behind a semicolon",
        Denied(""),
        &[";COMMIT", "; ; ROLLBACK", " ;SELECT 1"],
    ),
    attack(
        "a second statement",
        Denied("one statement per call"),
        &[
            "SELECT 1; SELECT 2",
            "SELECT 1; INSERT INTO counters VALUES ('a', 1)",
            "DELETE FROM counters WHERE 0;;;SELECT 1",
        ],
    ),
    attack(
        "a second statement that ends the transaction",
        ENDS,
        &[
            "INSERT INTO counters VALUES ('a', 1); COMMIT",
            "SELECT 1;/**/ROLLBACK",
            "SELECT 1 -- x\n; SAVEPOINT a",
        ],
    ),
    attack(
        "a second statement on a host's table",
        Denied("not the plugin's own"),
        &["SELECT 1; DELETE FROM wharf_ledger"],
    ),
    attack(
        "a statement that the host has prepared",
        Denied(""),
        &[
            "PRAGMA schema_version",
            "SELECT sequence, head FROM wharf_anchors WHERE task = ?1",
            "UPDATE wharf_barrier SET commits = commits + 1",
            "SELECT lower(name) FROM pragma_module_list",
        ],
    ),
    attack(
        "a statement under the key of another plugin",
        Denied("not the plugin's own"),
        &[
            "/*q Read*/SELECT x FROM others",
            "/*q Write*/SELECT x FROM others",
            "/**//*q Write*/SELECT x FROM others /* ",
        ],
    ),
    attack(
        "RAISE outside a trigger",
        Denied("RAISE"),
        &[
            "SELECT RAISE(ROLLBACK, 'x')",
            "SELECT RAISE(ABORT, 'x') FROM items",
        ],
    ),
    attack(
        "insert or roll back, unique",
        ENDED,
        &[
            "INSERT OR ROLLBACK INTO items (name, n) VALUES ('one', 1)",
            "INSERT OR ROLLBACK INTO counters SELECT name, 1 FROM items UNION ALL SELECT name, 2 FROM items",
        ],
    ),
    attack(
        "insert or roll back, not null",
        ENDED,
        &["INSERT OR ROLLBACK INTO items (name, n) VALUES (NULL, 1)"],
    ),
    attack(
        "insert or roll back, check",
        ENDED,
        &["INSERT OR ROLLBACK INTO items (name, n) VALUES ('x', -1)"],
    ),
    attack(
        "insert or roll back, and return",
        ENDED,
        &["INSERT OR ROLLBACK INTO items (name, n) VALUES ('one', 1) RETURNING id"],
    ),
    attack(
        "update or roll back",
        ENDED,
        &[
            "UPDATE OR ROLLBACK items SET n = -1",
            "UPDATE OR ROLLBACK items SET id = 1",
        ],
    ),
    attack(
        "a trigger that rolls back",
        ENDED,
        &[
            "INSERT INTO traps VALUES ('rollback')",
            "INSERT OR IGNORE INTO traps VALUES ('rollback')",
        ],
    ),
    attack(
        "interrupted insert",
        Lost("sql-time-limit"),
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) INSERT INTO counters SELECT 'c' || i, i FROM r",
        ],
    ),
    attack(
        "interrupted update",
        Lost("sql-time-limit"),
        &[
            "UPDATE items SET n = (WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r)",
        ],
    ),
    attack(
        "interrupted delete",
        Lost("sql-time-limit"),
        &[
            "DELETE FROM counters WHERE (WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r) > 0",
        ],
    ),
    attack(
        "interrupted trigger",
        Lost("sql-time-limit"),
        &["INSERT INTO traps VALUES ('endless')"],
    ),
    attack(
        "a write that returns too many rows",
        Lost("sql-returned-too-much"),
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 2000) INSERT INTO counters SELECT 'c' || i, i FROM r RETURNING value",
        ],
    ),
    attack(
        "a write that returns too many bytes",
        Lost("sql-returned-too-much"),
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 10) INSERT INTO counters SELECT 'c' || i, i FROM r RETURNING printf('%.*c', 60000, 'a')",
        ],
    ),
];
