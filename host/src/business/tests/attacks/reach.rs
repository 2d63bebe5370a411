//! Reaching for what is not the plugin's: tables of the host, of SQLite and of other plugins.

use super::{Attack, Refusal::Denied, attack};

const FOREIGN: super::Refusal = Denied("is not the plugin's own");

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "read the ledger",
        FOREIGN,
        &[
            "SELECT * FROM wharf_ledger",
            "SELECT data FROM wharf_ledger WHERE plugin = 'p'",
        ],
    ),
    attack(
        "read it under another spelling of its name",
        FOREIGN,
        &[
            "SELECT 1 FROM WHARF_LEDGER",
            "SELECT 1 FROM main.wharf_ledger",
            "SELECT 1 FROM \"wharf_ledger\"",
            "SELECT 1 FROM [wharf_ledger]",
            "SELECT 1 FROM `Wharf_Ledger`",
            "SELECT 1 FROM 'wharf_ledger'",
            "SELECT 1 FROM \"main\".\"wharf_ledger\" AS items",
        ],
    ),
    attack(
        "count it without naming a column",
        FOREIGN,
        &[
            "SELECT count(*) FROM wharf_ledger",
            "SELECT count(1) FROM wharf_ledger AS items",
        ],
    ),
    attack(
        "scalar subquery",
        FOREIGN,
        &[
            "SELECT (SELECT task FROM wharf_ledger)",
            "SELECT id FROM items WHERE n > (SELECT count(*) FROM wharf_ledger)",
        ],
    ),
    attack(
        "EXISTS",
        FOREIGN,
        &[
            "SELECT EXISTS (SELECT 1 FROM wharf_ledger)",
            "SELECT 1 FROM items WHERE NOT EXISTS (SELECT 1 FROM wharf_ledger WHERE task = items.name)",
        ],
    ),
    attack(
        "IN a subquery",
        FOREIGN,
        &["SELECT 1 WHERE 1 IN (SELECT sequence FROM wharf_ledger)"],
    ),
    attack(
        "IN a table by its bare name",
        FOREIGN,
        &["SELECT 1 WHERE 1 IN wharf_barrier"],
    ),
    attack(
        "row value in a subquery",
        FOREIGN,
        &["SELECT 1 WHERE ('p', 's') IN (SELECT plugin, subject FROM wharf_ledger)"],
    ),
    attack(
        "expression that shadows the table's name",
        FOREIGN,
        &["WITH wharf_ledger AS (SELECT 1) SELECT count(*) FROM wharf_ledger"],
    ),
    attack(
        "body of a common table expression",
        FOREIGN,
        &[
            "WITH x AS (SELECT * FROM wharf_ledger) SELECT count(*) FROM x",
            "WITH x AS MATERIALIZED (SELECT task FROM wharf_ledger) SELECT * FROM x",
            "WITH items AS (SELECT * FROM wharf_ledger) SELECT * FROM items",
        ],
    ),
    attack(
        "step of a recursion",
        FOREIGN,
        &[
            "WITH RECURSIVE r (x) AS (SELECT 0 UNION ALL SELECT sequence FROM wharf_ledger, r WHERE x < 1) SELECT x FROM r",
        ],
    ),
    attack(
        "join",
        FOREIGN,
        &[
            "SELECT 1 FROM items JOIN wharf_anchors",
            "SELECT 1 FROM items RIGHT JOIN wharf_anchors ON 1",
            "SELECT 1 FROM items FULL JOIN wharf_anchors ON items.name = wharf_anchors.task",
        ],
    ),
    attack(
        "natural join",
        FOREIGN,
        &["SELECT 1 FROM items NATURAL JOIN wharf_anchors"],
    ),
    attack(
        "comma in FROM",
        FOREIGN,
        &["SELECT count(*) FROM items, wharf_anchors"],
    ),
    attack(
        "derived table",
        FOREIGN,
        &[
            "SELECT count(*) FROM (SELECT 1 FROM wharf_workspace)",
            "SELECT * FROM (SELECT * FROM (SELECT tenant FROM wharf_workspace))",
        ],
    ),
    attack(
        "arm of a compound",
        FOREIGN,
        &[
            "SELECT name FROM items UNION ALL SELECT task FROM wharf_ledger",
            "SELECT 1 EXCEPT SELECT commits FROM wharf_barrier",
            "VALUES ('a') INTERSECT SELECT task FROM wharf_anchors",
        ],
    ),
    attack(
        "a limit that is read",
        FOREIGN,
        &[
            "SELECT 1 FROM items LIMIT (SELECT count(*) FROM wharf_ledger)",
            "SELECT 1 FROM items LIMIT 1 OFFSET (SELECT count(*) FROM wharf_ledger)",
        ],
    ),
    attack(
        "an order that is read",
        FOREIGN,
        &[
            "SELECT id FROM items ORDER BY (SELECT task FROM wharf_ledger)",
            "SELECT n FROM items GROUP BY (SELECT task FROM wharf_ledger)",
        ],
    ),
    attack(
        "a window over it",
        FOREIGN,
        &[
            "SELECT sum(n) OVER (ORDER BY (SELECT sequence FROM wharf_ledger)) FROM items",
            "SELECT row_number() OVER () FROM wharf_ledger",
        ],
    ),
    attack(
        "argument of a table function",
        FOREIGN,
        &[
            "SELECT value FROM json_each((SELECT data FROM wharf_ledger))",
            "SELECT key FROM wharf_ledger, json_tree(wharf_ledger.data)",
        ],
    ),
    attack(
        "filter of an aggregate",
        FOREIGN,
        &["SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM wharf_ledger)) FROM items"],
    ),
    attack(
        "VALUES with a subquery",
        FOREIGN,
        &["VALUES ((SELECT task FROM wharf_ledger))"],
    ),
    attack(
        "rowids, to probe for gaps",
        FOREIGN,
        &[
            "SELECT rowid FROM wharf_ledger",
            "SELECT max(_rowid_) FROM wharf_plugin_migrations",
        ],
    ),
    attack(
        "a choice of index",
        FOREIGN,
        &[
            "SELECT task FROM wharf_ledger INDEXED BY wharf_ledger_task",
            "SELECT 1 FROM wharf_ledger NOT INDEXED",
        ],
    ),
    attack(
        "time that depends on a row",
        FOREIGN,
        &[
            "SELECT CASE WHEN (SELECT task FROM wharf_ledger) > 'a' THEN (WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 100000) SELECT count(*) FROM r) END",
        ],
    ),
    attack(
        "copy it into an own table",
        FOREIGN,
        &[
            "INSERT INTO counters SELECT task, 1 FROM wharf_ledger",
            "INSERT INTO counters SELECT 'a', count(*) FROM wharf_ledger",
        ],
    ),
    attack(
        "update from it",
        FOREIGN,
        &[
            "UPDATE counters SET value = 1 FROM wharf_ledger",
            "UPDATE counters SET value = (SELECT count(*) FROM wharf_ledger)",
            "UPDATE counters SET (name, value) = (SELECT task, sequence FROM wharf_ledger)",
        ],
    ),
    attack(
        "delete by it",
        FOREIGN,
        &["DELETE FROM counters WHERE name IN (SELECT task FROM wharf_ledger)"],
    ),
    attack(
        "upsert from it",
        FOREIGN,
        &[
            "INSERT INTO counters VALUES ('one', 1) ON CONFLICT (name) DO UPDATE SET value = (SELECT count(*) FROM wharf_ledger)",
            "INSERT INTO counters VALUES ('one', 1) ON CONFLICT (name) DO UPDATE SET value = 2 WHERE EXISTS (SELECT 1 FROM wharf_ledger)",
        ],
    ),
    attack(
        "return it",
        FOREIGN,
        &[
            "INSERT INTO counters VALUES ('a', 1) RETURNING (SELECT task FROM wharf_ledger)",
            "DELETE FROM counters RETURNING EXISTS (SELECT 1 FROM wharf_ledger)",
        ],
    ),
    attack(
        "read the host's other tables",
        FOREIGN,
        &[
            "SELECT * FROM wharf_workspace",
            "SELECT * FROM wharf_anchors",
            "SELECT * FROM wharf_barrier",
            "SELECT * FROM wharf_tables",
            "SELECT * FROM wharf_plugin_migrations",
            "SELECT * FROM wharf_seeds",
            "SELECT * FROM wharf_migrations",
        ],
    ),
    attack(
        "read another plugin's table",
        FOREIGN,
        &[
            "SELECT * FROM others",
            "SELECT count(*) FROM others",
            "SELECT x FROM main.Others",
            "WITH others AS (SELECT 1) SELECT count(*) FROM others",
        ],
    ),
    attack(
        "read another plugin's view",
        FOREIGN,
        &["SELECT * FROM glimpse", "SELECT count(*) FROM glimpse"],
    ),
    attack(
        "write another plugin's table",
        FOREIGN,
        &[
            "INSERT INTO others VALUES (1)",
            "UPDATE others SET x = 1",
            "DELETE FROM others",
            "REPLACE INTO others (rowid, x) VALUES (1, 1)",
        ],
    ),
    attack(
        "copy another plugin's rows",
        FOREIGN,
        &["INSERT INTO counters SELECT x, 1 FROM others"],
    ),
    attack(
        "insert into the ledger",
        FOREIGN,
        &[
            "INSERT INTO wharf_ledger DEFAULT VALUES",
            "INSERT INTO main.wharf_ledger (plugin) VALUES ('p')",
            "INSERT OR IGNORE INTO wharf_ledger SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12",
        ],
    ),
    attack(
        "replace an anchor",
        FOREIGN,
        &[
            "REPLACE INTO wharf_anchors VALUES ('honest', 1, 'h')",
            "INSERT OR REPLACE INTO wharf_anchors VALUES ('honest', 1, 'h')",
        ],
    ),
    attack(
        "update the ledger",
        FOREIGN,
        &[
            "UPDATE wharf_ledger SET data = '{}'",
            "UPDATE wharf_ledger SET data = items.name FROM items",
        ],
    ),
    attack(
        "delete from the ledger",
        FOREIGN,
        &[
            "DELETE FROM wharf_ledger WHERE task = 'honest'",
            "WITH x AS (SELECT 1) DELETE FROM wharf_ledger",
        ],
    ),
    attack(
        "empty a table at once",
        FOREIGN,
        &["DELETE FROM wharf_ledger", "DELETE FROM wharf_barrier"],
    ),
    attack(
        "upsert into a host's table",
        FOREIGN,
        &[
            "INSERT INTO wharf_anchors VALUES ('honest', 1, 'h') ON CONFLICT (task) DO UPDATE SET sequence = 0",
            "INSERT INTO wharf_anchors VALUES ('honest', 1, 'h') ON CONFLICT DO NOTHING",
        ],
    ),
    attack(
        "write a host's table and return it",
        FOREIGN,
        &[
            "INSERT INTO wharf_barrier VALUES (1) RETURNING *",
            "UPDATE wharf_anchors SET sequence = 9 RETURNING head",
        ],
    ),
    attack(
        "take a table into the own ones",
        FOREIGN,
        &[
            "INSERT INTO wharf_tables VALUES ('others', 'p', 'table')",
            "UPDATE wharf_tables SET plugin = 'p'",
        ],
    ),
    attack(
        "forget a migration",
        FOREIGN,
        &[
            "DELETE FROM wharf_plugin_migrations",
            "UPDATE wharf_plugin_migrations SET checksum = ''",
        ],
    ),
    attack(
        "read the schema",
        FOREIGN,
        &[
            "SELECT * FROM sqlite_master",
            "SELECT count(*) FROM sqlite_schema",
            "SELECT sql FROM main.sqlite_master",
            "SELECT 1 FROM items WHERE EXISTS (SELECT 1 FROM sqlite_schema)",
        ],
    ),
    attack(
        "read the temporary schema",
        Denied(""),
        &[
            "SELECT * FROM sqlite_temp_schema",
            "SELECT count(*) FROM sqlite_temp_master",
            "SELECT * FROM temp.sqlite_master",
        ],
    ),
    attack(
        "write the schema",
        Denied("may not be"),
        &[
            "UPDATE sqlite_master SET sql = ''",
            "DELETE FROM sqlite_schema",
            "INSERT INTO sqlite_master DEFAULT VALUES",
            "UPDATE main.sqlite_schema SET rootpage = 2 WHERE name = 'items'",
        ],
    ),
    attack(
        "read the counters of rowids",
        FOREIGN,
        &["SELECT * FROM sqlite_sequence"],
    ),
    attack(
        "set the counters of rowids",
        FOREIGN,
        &[
            "UPDATE sqlite_sequence SET seq = 0",
            "INSERT INTO sqlite_sequence VALUES ('items', 7)",
            "DELETE FROM sqlite_sequence",
        ],
    ),
    attack(
        "pragma as a table",
        FOREIGN,
        &[
            "SELECT * FROM pragma_table_info('wharf_ledger')",
            "SELECT * FROM pragma_table_xinfo('others')",
            "SELECT * FROM pragma_index_list('wharf_ledger')",
            "SELECT * FROM pragma_foreign_key_list('items')",
            "SELECT * FROM pragma_table_list",
        ],
    ),
    attack(
        "count a pragma as a table",
        FOREIGN,
        &["SELECT count(*) FROM pragma_table_info('wharf_ledger')"],
    ),
    attack(
        "pragma for each own row",
        FOREIGN,
        &["SELECT 1 FROM items, pragma_table_info(items.name)"],
    ),
    attack(
        "pragma as a table, about the connection",
        FOREIGN,
        &[
            "SELECT * FROM pragma_database_list",
            "SELECT * FROM pragma_function_list",
            "SELECT * FROM pragma_compile_options",
            "SELECT * FROM pragma_module_list",
            "SELECT * FROM pragma_user_version",
        ],
    ),
    attack(
        "pages of every table",
        FOREIGN,
        &[
            "SELECT * FROM dbstat",
            "SELECT count(*) FROM dbstat",
            "SELECT pgsize FROM dbstat('main')",
        ],
    ),
    attack(
        "tables that modules make up",
        FOREIGN,
        &[
            "SELECT * FROM fts3tokenize",
            "SELECT count(*) FROM fts3tokenize('simple')",
            "SELECT * FROM json_each('[1]') AS j, fts3tokenize",
        ],
    ),
    attack(
        "column that two tables share, by USING",
        FOREIGN,
        &[
            "WITH g (plugin, subject, operation_key, task, principal, fingerprint, data, sequence, at) AS (SELECT 0, 0, 0, 0, 0, 0, 0, 0, 0) SELECT plugin, subject, operation_key, task, principal, fingerprint, data, sequence, at FROM wharf_ledger FULL JOIN g USING (plugin, subject, operation_key, task, principal, fingerprint, data, sequence, at)",
            "SELECT count(*) FROM wharf_ledger a JOIN wharf_ledger b USING (task)",
            "WITH g (task) AS (VALUES ('honest')) SELECT g.task FROM g JOIN wharf_ledger USING (task)",
            "WITH g (task) AS (VALUES ('honest')) SELECT g.task FROM g LEFT JOIN wharf_ledger USING (task)",
            "WITH g (task) AS (SELECT 0) SELECT task FROM g RIGHT JOIN wharf_ledger USING (task)",
            "WITH g (sql) AS (SELECT 0) SELECT sql FROM sqlite_schema FULL JOIN g USING (sql)",
        ],
    ),
    attack(
        "column that two tables share, by NATURAL",
        FOREIGN,
        &[
            "WITH g (task, head) AS (SELECT 0, 0) SELECT task, head FROM wharf_anchors NATURAL FULL JOIN g",
            "WITH g (task, head) AS (SELECT 0, 0) SELECT task, head FROM g NATURAL RIGHT JOIN wharf_anchors",
        ],
    ),
    attack(
        "column shared with another plugin's table",
        FOREIGN,
        &[
            "WITH g (x) AS (SELECT 0) SELECT x FROM others NATURAL FULL JOIN g",
            "WITH g (x) AS (SELECT 0) SELECT x FROM others FULL JOIN g USING (x)",
            "WITH g (x) AS (VALUES ('theirs')) SELECT g.x FROM g JOIN others USING (x)",
            "SELECT count(*) FROM others a JOIN others b USING (x)",
            "SELECT x FROM (SELECT 0 AS x) NATURAL RIGHT JOIN main.Others",
            "SELECT x FROM glimpse NATURAL FULL JOIN (SELECT 0 AS x)",
            "SELECT 1 FROM items WHERE EXISTS (SELECT 1 FROM others JOIN (SELECT 'theirs' AS x) USING (x))",
        ],
    ),
    attack(
        "copy a shared column",
        FOREIGN,
        &[
            "INSERT INTO counters (name, value) WITH g (head) AS (SELECT 0) SELECT head, 1 FROM wharf_anchors FULL JOIN g USING (head) LIMIT 1",
            "INSERT INTO counters (name, value) WITH g (x) AS (SELECT 0) SELECT x, 1 FROM others FULL JOIN g USING (x)",
            "UPDATE counters SET name = x FROM others NATURAL FULL JOIN (SELECT 0 AS x)",
            "DELETE FROM counters WHERE 'theirs' IN (SELECT x FROM others NATURAL FULL JOIN (SELECT 0 AS x))",
            "INSERT INTO counters VALUES ('a', 1) RETURNING (SELECT x FROM others NATURAL FULL JOIN (SELECT 0 AS x))",
        ],
    ),
    attack(
        "shared column of a table that a module makes up",
        FOREIGN,
        &[
            "WITH g (name) AS (SELECT 0) SELECT name FROM pragma_table_list FULL JOIN g USING (name)",
            "WITH g (name) AS (SELECT 0) SELECT name FROM dbstat FULL JOIN g USING (name)",
            "WITH g (token) AS (SELECT 0) SELECT token FROM fts3tokenize FULL JOIN g USING (token)",
        ],
    ),
    attack(
        "a name where nothing is read",
        FOREIGN,
        &[
            "WITH x AS (SELECT * FROM wharf_tables) SELECT 1",
            "SELECT 1 FROM items WHERE 0 AND (SELECT 1 FROM wharf_tables)",
            "SELECT 'wharf_tables'",
            "SELECT 1 AS [sqlite_x]",
        ],
    ),
    attack(
        "probe for a column or an index",
        FOREIGN,
        &[
            "SELECT zzz FROM wharf_ledger",
            "SELECT 1 FROM wharf_ledger INDEXED BY nowhere",
            "SELECT 1 FROM wharf_nowhere",
            "SELECT 1 FROM \u{feff}wharf_nowhere",
        ],
    ),
    attack(
        "a parameter that goes on over quotes",
        Denied("parameter's name"),
        &[
            "INSERT INTO counters SELECT name || seq || coalesce($a('), ''), 1 FROM sqlite_sequence FULL JOIN (SELECT 0 AS name, 0 AS seq) USING (name, seq) WHERE coalesce($b('), 1)",
            "SELECT task, $a(\") FROM wharf_ledger FULL JOIN (SELECT 0 AS task) USING (task) WHERE $b(\") IS NULL",
            "SELECT @a(--) , x FROM others FULL JOIN (SELECT 0 AS x) USING (x)",
            "SELECT :a(/*) FROM others WHERE :b(*/)",
            "SELECT #a(`), name FROM sqlite_schema WHERE #b(`)",
            "SELECT $a::b(') FROM sqlite_sequence WHERE $::b(')",
        ],
    ),
    attack(
        "the counters of rowids under a name that is not seen",
        Denied(""),
        &[
            "INSERT INTO items (name, n) SELECT name, seq FROM sqlite_sequence FULL JOIN (SELECT 0 AS name, 0 AS seq) USING (name, seq)",
            "SELECT ?1sqlite_sequence",
            "SELECT x'00''sqlite_sequence'",
        ],
    ),
    attack(
        "a table that is optimised away",
        FOREIGN,
        &[
            "SELECT 1 FROM (SELECT 1 AS x) LEFT JOIN others USING (x)",
            "SELECT count(*) FROM (SELECT 1 AS x) NATURAL LEFT JOIN others",
            "SELECT id FROM items LEFT JOIN others ON others.rowid = items.id",
            "SELECT 1 FROM items WHERE n < 0 AND EXISTS (SELECT 1 FROM others)",
            "INSERT INTO counters SELECT 'a', count(*) FROM (SELECT 1 AS x) LEFT JOIN others USING (x)",
            "UPDATE counters SET value = 1 FROM others WHERE 0",
        ],
    ),
    attack(
        "probe another plugin's columns, indexes and keys",
        FOREIGN,
        &[
            "SELECT zzz FROM others",
            "SELECT others.zzz FROM others",
            "SELECT 1 FROM others INDEXED BY nowhere",
            "SELECT 1 FROM items INDEXED BY others_x",
            "SELECT 1 FROM items JOIN others USING (zzz)",
            "SELECT x FROM others a, others b",
            "SELECT zzz FROM glimpse",
            "INSERT INTO others VALUES (1, 2, 3)",
            "INSERT INTO others (zzz) VALUES (1)",
            "INSERT INTO others (x) VALUES (1) ON CONFLICT (x) DO NOTHING",
            "INSERT INTO counters SELECT * FROM others",
            "UPDATE others SET zzz = 1",
            "DELETE FROM others WHERE zzz = 1",
            "DELETE FROM others RETURNING zzz",
            "SELECT 1 FROM others('x')",
        ],
    ),
    attack(
        "use a module that is no table",
        FOREIGN,
        &["SELECT 1 FROM rtree", "SELECT zzz FROM fts5"],
    ),
];
