//! Functions and collations off the list.

use super::{Attack, Refusal::Denied, attack};

const CALLED: super::Refusal = Denied("may not be called");

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "read the clock",
        CALLED,
        &[
            "SELECT datetime('now')",
            "SELECT date()",
            "SELECT time()",
            "SELECT julianday('now')",
            "SELECT strftime('%s')",
            "SELECT unixepoch()",
            "SELECT timediff('now', '2000-01-01')",
        ],
    ),
    attack(
        "read the clock by a keyword",
        CALLED,
        &[
            "SELECT CURRENT_TIMESTAMP",
            "SELECT CURRENT_DATE",
            "SELECT current_time",
        ],
    ),
    attack(
        "draw a number",
        CALLED,
        &[
            "SELECT random()",
            "SELECT hex(randomblob(4))",
            "SELECT abs(random())",
        ],
    ),
    attack(
        "call where no column is",
        CALLED,
        &[
            "SELECT count(*) FROM items ORDER BY random()",
            "SELECT n FROM items GROUP BY random()",
            "SELECT 1 LIMIT abs(random())",
            "SELECT sum(n) OVER (ORDER BY random()) FROM items",
            "SELECT count(*) FILTER (WHERE random() > 0) FROM items",
        ],
    ),
    attack(
        "call in a change",
        CALLED,
        &[
            "INSERT INTO counters VALUES ('a', random())",
            "UPDATE counters SET value = random()",
            "DELETE FROM counters WHERE value < random()",
            "INSERT INTO counters VALUES ('one', 1) ON CONFLICT DO UPDATE SET value = random()",
            "INSERT INTO counters VALUES ('a', 1) RETURNING random()",
        ],
    ),
    attack(
        "call under a quoted name",
        CALLED,
        &[
            "SELECT \"random\"()",
            "SELECT [Random]()",
            "SELECT `RANDOM`()",
        ],
    ),
    attack(
        "load a library",
        CALLED,
        &[
            "SELECT load_extension('x')",
            "SELECT load_extension('libm.so', 'main')",
        ],
    ),
    attack(
        "ask for the version",
        Denied("may not be"),
        &[
            "SELECT sqlite_version()",
            "SELECT sqlite_source_id()",
            "SELECT fts5_source_id()",
        ],
    ),
    attack(
        "ask how SQLite was compiled",
        Denied("may not be"),
        &[
            "SELECT sqlite_compileoption_get(1)",
            "SELECT sqlite_compileoption_used('THREADSAFE')",
        ],
    ),
    attack(
        "ask for the host's last row",
        CALLED,
        &["SELECT last_insert_rowid()"],
    ),
    attack(
        "ask for the host's changes",
        CALLED,
        &["SELECT changes()", "SELECT total_changes()"],
    ),
    attack(
        "write into SQLite's log",
        Denied("may not be"),
        &["SELECT sqlite_log(1, 'x')"],
    ),
    attack(
        "register a tokenizer by its address",
        CALLED,
        &[
            "SELECT fts3_tokenizer('simple')",
            "SELECT fts3_tokenizer('x', x'0000000000000000')",
        ],
    ),
    attack(
        "call what rewrites schemas",
        Denied(""),
        &[
            "SELECT sqlite_rename_table('main', 'table', 'items', 'x', 'a', 'b', 0)",
            "SELECT sqlite_drop_column(0, 'x', 1)",
        ],
    ),
    attack(
        "call a function of a full-text table",
        CALLED,
        &[
            "SELECT fts5(1)",
            "SELECT snippet('a')",
            "SELECT matchinfo('a')",
            "SELECT optimize('a')",
            "SELECT offsets('a')",
        ],
    ),
    attack(
        "call a function of a spatial index",
        CALLED,
        &[
            "SELECT rtreecheck('items')",
            "SELECT rtreenode(2, x'00')",
            "SELECT rtreedepth(x'0000')",
        ],
    ),
    attack(
        "ask for hidden marks of a value",
        CALLED,
        &["SELECT subtype(json('1'))"],
    ),
    attack(
        "a blob from a number",
        CALLED,
        &[
            "SELECT zeroblob(10)",
            "SELECT length(zeroblob(1000000000))",
            "INSERT INTO counters VALUES (zeroblob(2000000000), 1)",
        ],
    ),
    attack(
        "every character with every other",
        CALLED,
        &[
            "SELECT trim('a', 'b')",
            "SELECT ltrim('a')",
            "SELECT rtrim('a', 'b')",
            "SELECT unhex('00', 'x')",
        ],
    ),
    attack(
        "indentation of any width",
        CALLED,
        &["SELECT json_pretty('[]', 'x')"],
    ),
    attack(
        "names compared with every other",
        CALLED,
        &[
            "SELECT json_patch('{}', '{}')",
            "SELECT jsonb_patch('{}', '{}')",
        ],
    ),
    attack(
        "calls in a row, which no clock interrupts",
        Denied("too many functions"),
        &[
            "SELECT name LIKE '%a1', name LIKE '%a2', name LIKE '%a3', name LIKE '%a4', name LIKE '%a5', name LIKE '%a6', name LIKE '%a7', name LIKE '%a8', name LIKE '%b1', name LIKE '%b2', name LIKE '%b3', name LIKE '%b4', name LIKE '%b5', name LIKE '%b6', name LIKE '%b7', name LIKE '%b8', name LIKE '%c1', name LIKE '%c2', name LIKE '%c3', name LIKE '%c4', name LIKE '%c5', name LIKE '%c6', name LIKE '%c7', name LIKE '%c8', name LIKE '%d1', name LIKE '%d2', name LIKE '%d3', name LIKE '%d4', name LIKE '%d5', name LIKE '%d6', name LIKE '%d7', name LIKE '%d8', name LIKE '%e1', name LIKE '%e2', name LIKE '%e3', name LIKE '%e4', name LIKE '%e5', name LIKE '%e6', name LIKE '%e7', name LIKE '%e8' FROM items",
        ],
    ),
    attack("compare by the sound", CALLED, &["SELECT soundex('a')"]),
    attack(
        "a collation that there is not",
        Denied("collation"),
        &[
            "SELECT name FROM items ORDER BY name COLLATE nowhere",
            "SELECT 1 WHERE 'a' = 'b' COLLATE unicode",
        ],
    ),
];
