//! Using up time, memory or what a call may return.

use super::{
    Attack,
    Refusal::{Denied, Limit},
    attack,
};

const TIME: super::Refusal = Limit("time for SQL");
const LONG: super::Refusal = Limit("too long");
const SIZE: super::Refusal = Limit("too large or too deep");

macro_rules! sixty {
    () => {
        "q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q+q"
    };
}

macro_rules! hundred {
    () => {
        "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
    };
}

macro_rules! thousand {
    () => {
        concat!(
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!(),
            hundred!()
        )
    };
}

macro_rules! hundred_rows {
    () => {
        concat!(
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!(),
            ten_rows!()
        )
    };
}

macro_rules! ten_rows {
    () => {
        ",('x',1),('x',1),('x',1),('x',1),('x',1),('x',1),('x',1),('x',1),('x',1),('x',1)"
    };
}

macro_rules! thousand_rows {
    () => {
        concat!(
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!(),
            hundred_rows!()
        )
    };
}

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "endless recursion",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
            "WITH RECURSIVE r (i) AS (VALUES (1) UNION SELECT i + 1 FROM r) SELECT max(i) FROM r",
        ],
    ),
    attack(
        "two recursions that feed each other",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 1000000), s (j) AS (SELECT i FROM r UNION ALL SELECT j + 1 FROM s) SELECT count(*) FROM s, r",
        ],
    ),
    attack(
        "cross join",
        TIME,
        &[
            "SELECT count(*) FROM deep2 a, deep2 b, deep2 c, deep2 d WHERE a.id + b.id + c.id + d.id < 0",
        ],
    ),
    attack(
        "views inside views",
        TIME,
        &[
            "SELECT count(*) FROM deep3",
            "SELECT sum(a.id) FROM deep3 a, deep3 b",
        ],
    ),
    attack(
        "sort of endless rows",
        TIME,
        &[
            "WITH RECURSIVE r (i, x) AS (SELECT 1, printf('%.*c', 20000, 'a') UNION ALL SELECT i + 1, x FROM r) SELECT x FROM r ORDER BY i DESC",
        ],
    ),
    attack(
        "distinct of endless rows",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(DISTINCT i || 'x') FROM r",
        ],
    ),
    attack(
        "groups of endless rows",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i FROM r GROUP BY i % 1000003",
        ],
    ),
    attack(
        "window over endless rows",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT sum(i) OVER (ORDER BY i DESC) FROM r",
        ],
    ),
    attack(
        "window frame as long as its rows",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 30000) SELECT max(x) FROM (SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 20000 PRECEDING AND 20000 FOLLOWING EXCLUDE CURRENT ROW) AS x FROM r)",
        ],
    ),
    attack(
        "a table in memory that grows",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r), m AS MATERIALIZED (SELECT i FROM r) SELECT count(*) FROM m",
        ],
    ),
    attack(
        "join without an index",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 100000) SELECT count(*) FROM r a, r b WHERE a.i + b.i = -1",
        ],
    ),
    attack(
        "preparing that doubles",
        SIZE,
        &[
            "WITH c0 AS (SELECT 1 AS x), c1 AS (SELECT a.x FROM c0 a, c0 b), c2 AS (SELECT a.x FROM c1 a, c1 b), c3 AS (SELECT a.x FROM c2 a, c2 b), c4 AS (SELECT a.x FROM c3 a, c3 b), c5 AS (SELECT a.x FROM c4 a, c4 b), c6 AS (SELECT a.x FROM c5 a, c5 b), c7 AS (SELECT a.x FROM c6 a, c6 b), c8 AS (SELECT a.x FROM c7 a, c7 b) SELECT count(*) FROM c8",
        ],
    ),
    attack(
        "a pattern that tries everything",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r WHERE i || printf('%.*c', 100000, 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%b'",
        ],
    ),
    attack(
        "a pattern of sets that tries everything",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r WHERE i || printf('%.*c', 100000, 'a') GLOB '*[a-c]*[a-c]*[a-c]*[a-c]*[x-z]'",
        ],
    ),
    attack(
        "a search in a text, again and again",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r WHERE instr(i || printf('%.*c', 100000, 'a'), printf('%.*c', 50000, 'a') || 'b') > 0",
        ],
    ),
    attack(
        "JSON that is read again and again",
        TIME,
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r, json_tree('[[[[1, 2, 3], 4], 5], 6]')",
        ],
    ),
    attack(
        "a width of a format",
        LONG,
        &[
            "SELECT printf('%*d', 1000000000, 1)",
            "SELECT format('%2000000000s', 'a')",
            "SELECT printf('%.*c', 1000000, 'a')",
        ],
    ),
    attack(
        "a text that doubles",
        LONG,
        &[
            "WITH RECURSIVE r (x) AS (SELECT 'a' UNION ALL SELECT x || x FROM r) SELECT length(x) FROM r",
            "SELECT replace(printf('%.*c', 1000, 'a'), 'a', printf('%.*c', 1000, 'b'))",
            "SELECT concat(a, a, a, a) FROM (SELECT printf('%.*c', 100000, 'a') AS a)",
        ],
    ),
    attack(
        "hex of hex",
        LONG,
        &[
            "SELECT hex(hex(hex(hex(printf('%.*c', 20000, 'a')))))",
            "SELECT quote(CAST(printf('%.*c', 100000, 'a') AS BLOB))",
        ],
    ),
    attack(
        "an aggregate that grows",
        LONG,
        &[
            "SELECT group_concat(x) FROM (WITH RECURSIVE r (x) AS (SELECT 1000000 UNION ALL SELECT x + 1 FROM r LIMIT 50000) SELECT x FROM r)",
            "SELECT string_agg(x, ',') FROM (WITH RECURSIVE r (x) AS (SELECT 1000000 UNION ALL SELECT x + 1 FROM r LIMIT 50000) SELECT x FROM r)",
        ],
    ),
    attack(
        "JSON that grows",
        LONG,
        &[
            "SELECT length(json_group_array(x)) FROM (WITH RECURSIVE r (x) AS (SELECT 1000000 UNION ALL SELECT x + 1 FROM r LIMIT 50000) SELECT x FROM r)",
            "SELECT length(json_group_object(x, x)) FROM (WITH RECURSIVE r (x) AS (SELECT 1000000 UNION ALL SELECT x + 1 FROM r LIMIT 50000) SELECT x FROM r)",
            "SELECT length(json_array(a, a)) FROM (SELECT printf('%.*c', 100000, 'a') AS a)",
        ],
    ),
    attack(
        "a row that is too long",
        LONG,
        &[
            "INSERT INTO items (name, n, body) SELECT a, 1, a FROM (SELECT printf('%.*c', 100000, 'a') AS a)",
            "UPDATE items SET name = name || a, body = a FROM (SELECT printf('%.*c', 100000, 'a') AS a)",
        ],
    ),
    attack(
        "more rows than a query may return",
        Limit("too many rows"),
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 1001) SELECT i FROM r",
        ],
    ),
    attack(
        "more bytes than a call may return",
        Limit("too many bytes"),
        &[
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 10) SELECT printf('%.*c', 60000, 'a') FROM r",
        ],
    ),
    attack(
        "LIKE with a long pattern",
        SIZE,
        &[
            "SELECT 'a' LIKE printf('%.*c', 101, 'a')",
            "SELECT name FROM items WHERE name GLOB printf('%.*c', 101, '*')",
        ],
    ),
    attack(
        "read in a write-only disguise",
        Denied("not the plugin's own"),
        &[
            "INSERT INTO counters SELECT task, 1 FROM wharf_ledger WHERE 0",
            "UPDATE counters SET value = value WHERE name IN (SELECT task FROM wharf_anchors WHERE 0)",
        ],
    ),
    attack(
        "copies of a function by flattening",
        Denied("too many functions"),
        &[concat!(
            "INSERT INTO counters SELECT 'x', (WITH t (a) AS MATERIALIZED (SELECT printf('%.*c', 120000, 'a')) SELECT q FROM (SELECT ",
            sixty!(),
            " AS q FROM (SELECT (a GLOB '*[bcdefghijklmnopqrstuvwxyzbcdefghijklmnopqrstuvwxyzbcdefghijklmnopqrstuvwxyz]') AS q FROM t)))",
        )],
    ),
    attack(
        "more instructions than a statement may have",
        Limit("split it"),
        &[concat!(
            "INSERT INTO counters VALUES ('x', 1)",
            thousand_rows!(),
            thousand_rows!(),
            thousand_rows!(),
            thousand_rows!(),
            thousand_rows!(),
        )],
    ),
    attack(
        "parser's depth",
        SIZE,
        &[concat!(
            "SELECT ",
            thousand!(),
            thousand!(),
            thousand!(),
            "1"
        )],
    ),
];
