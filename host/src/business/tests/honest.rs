//! What an honest plugin's SQL may do.

use super::*;

#[test]
fn an_honest_plugin_gets_the_sql_it_needs() {
    let fixture = Fixture::new();
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        let sql = &*sql;
        for text in [
            "INSERT INTO items (name, n, body) VALUES ('a', 1, '{\"tags\": [\"x\", \"y\"]}'), ('b', 20, NULL), ('c', 3, '[]')",
            "INSERT INTO parts SELECT id, 'part of ' || name FROM items",
            "INSERT INTO counters VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            "INSERT INTO counters VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            "INSERT OR IGNORE INTO counters VALUES ('a', 7)",
            "REPLACE INTO counters (name) VALUES ('z')",
            "UPDATE items SET n = counters.value FROM counters WHERE counters.name = items.name",
            "UPDATE OR FAIL counters SET value = value + 1 WHERE name = 'z'",
            "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5) INSERT INTO counters SELECT 'r' || i, i FROM r",
            "DELETE FROM counters WHERE name LIKE 'r_'",
            "DELETE FROM items WHERE name = 'c'",
        ] {
            assert!(sql.execute(text, &[]).is_ok(), "{text}: {:?}", sql.execute(text, &[]));
        }
        let integers = |text: &str| -> Vec<i64> {
            let rows = sql.query(text, &[]).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            rows.rows
                .iter()
                .flatten()
                .map(|value| match value {
                    SqlValue::Integer(value) => *value,
                    other => panic!("{text}: {other:?}"),
                })
                .collect()
        };
        for (text, expected) in [
            ("SELECT n FROM items ORDER BY name", &[2, 20][..]),
            ("SELECT count(*) FROM parts", &[2]),
            ("SELECT count(*) FROM parts JOIN items ON items.id = parts.item LEFT JOIN counters USING (name)", &[2]),
            ("SELECT count(*) FROM small_items", &[1]),
            ("SELECT s.id FROM small_items AS s", &[1]),
            ("WITH small AS (SELECT * FROM items WHERE n < 10) SELECT count(*) FROM small", &[1]),
            ("WITH a AS (SELECT 1 AS x), b (y) AS MATERIALIZED (SELECT x FROM a) SELECT count(*) FROM b", &[1]),
            ("WITH RECURSIVE r (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM r WHERE i < 9) SELECT count(*) FROM r", &[9]),
            ("SELECT count(*) FROM (SELECT 1 UNION SELECT 2) AS sub", &[2]),
            ("SELECT sum(n) OVER (ORDER BY name ROWS UNBOUNDED PRECEDING) FROM items", &[2, 22]),
            ("SELECT row_number() OVER w FROM items WINDOW w AS (ORDER BY n)", &[1, 2]),
            ("SELECT json_array_length(body, '$.tags') FROM items WHERE body IS NOT NULL", &[2]),
            ("SELECT count(*) FROM items, json_each(items.body, '$.tags') AS tag WHERE tag.value = 'x'", &[1]),
            ("SELECT count(*) FROM json_tree('{\"a\": [1, 2]}')", &[4]),
            ("SELECT count(*) FROM json_each('[1, 2, 3]')", &[3]),
            ("SELECT '{\"a\": 5}' ->> 'a'", &[5]),
            ("SELECT CASE WHEN EXISTS (SELECT 1 FROM items WHERE name GLOB 'a*') THEN 1 ELSE 0 END", &[1]),
            ("SELECT coalesce(max(n), 0) + abs(-1) + round(1.2) > 1 FROM items", &[1]),
            ("SELECT length(upper(substr(name, 1, 5))) FROM items ORDER BY 1", &[1, 1]),
            ("SELECT n FROM items GROUP BY n HAVING count(*) > 0 ORDER BY n DESC LIMIT 1 OFFSET 0", &[20]),
            ("SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 1", &[1]),
            ("VALUES (1), (2)", &[1, 2]),
            ("INSERT INTO counters VALUES ('new', 4) RETURNING value", &[4]),
            ("UPDATE counters SET value = value * 2 WHERE name = 'new' RETURNING value", &[8]),
            ("DELETE FROM counters WHERE name = 'new' RETURNING value", &[8]),
            ("SELECT (SELECT count(*) FROM main.items AS i WHERE i.rowid = items.id) FROM items", &[1, 1]),
        ] {
            assert_eq!(integers(text), expected, "{text}");
        }
        let values = [
            SqlValue::Null,
            SqlValue::Integer(i64::MIN),
            SqlValue::Real(0.5),
            SqlValue::Text("é".into()),
            SqlValue::Blob(vec![0, 255]),
        ];
        let set = sql.query("SELECT ?1 AS a, ?2, ?3, ?4, ?5 AS e", &values).unwrap();
        assert_eq!((set.columns[0].as_str(), set.columns[4].as_str()), ("a", "e"));
        assert_eq!(set.rows, [values.to_vec()]);
        done()
    });
    assert!(matches!(
        performed.unwrap(),
        Performed::Done {
            replayed: false,
            ..
        }
    ));
    assert_eq!(fixture.count("SELECT count(*) FROM items"), 2);
}

/// What `docs/plugin-authors.md` promises beside the above, in definitions and in statements.
#[test]
fn every_kind_of_table_and_of_query_that_the_guide_names_can_be_used() {
    let fixture = Fixture::new();
    let more = "
        CREATE TABLE prices (
            item TEXT COLLATE NOCASE NOT NULL, day INTEGER NOT NULL, price INTEGER NOT NULL CHECK (price > 0),
            label TEXT GENERATED ALWAYS AS (item || '@' || day) VIRTUAL,
            PRIMARY KEY (item, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, parent INTEGER REFERENCES entries (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
            text TEXT COLLATE RTRIM, kind TEXT DEFAULT 'plain', double INTEGER GENERATED ALWAYS AS (id * 2) STORED
        );
        CREATE UNIQUE INDEX entries_text ON entries (lower(text)) WHERE kind = 'unique';
        CREATE VIEW roots (id, children) AS SELECT e.id, (SELECT count(*) FROM entries c WHERE c.parent = e.id) FROM entries e WHERE e.parent IS NULL;
        INSERT INTO entries (id, text) VALUES (100, 'from the migration');";
    fixture
        .store
        .install(&"p".parse().unwrap(), &migrations(&[TABLES, more]), at())
        .unwrap();
    let performed = fixture.store.perform(&operation("t1", "k1"), &mut |sql| {
        let sql = &*sql;
        for (text, changed) in [
            ("INSERT INTO prices (item, day, price) VALUES ('Pen', 1, 100), ('pen', 2, 110), ('cap', 1, 900)", 3),
            ("INSERT INTO prices (item, day, price) VALUES ('PEN', 1, 105) ON CONFLICT (item, day) DO UPDATE SET price = excluded.price WHERE price < excluded.price", 1),
            // The parent comes second: the key is checked when the call ends.
            ("INSERT INTO entries (id, parent, text) VALUES (2, 1, 'child')", 1),
            ("INSERT INTO entries (id, text) VALUES (1, 'parent')", 1),
            ("INSERT INTO entries (parent, text) SELECT 1, value FROM json_each('[\"x\", \"y\"]')", 2),
            ("UPDATE entries SET kind = 'unique' WHERE text = 'child  '", 1),
            ("UPDATE entries AS e SET text = p.label FROM prices AS p WHERE p.price = 900 AND e.text = 'x'", 1),
            ("DELETE FROM entries WHERE text GLOB '[y]'", 1),
        ] {
            let result = sql.execute(text, &[]);
            assert!(matches!(result, Ok(number) if number == changed), "{text}: {result:?}");
        }
        let one = |text: &str| {
            let set = sql.query(text, &[]).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            match set.rows.as_slice() {
                [row] => format!("{row:?}"),
                rows => panic!("{text}: {rows:?}"),
            }
        };
        for (text, expected) in [
            ("SELECT label FROM prices WHERE item = 'PEN' AND day = 2", "[Text(\"pen@2\")]"),
            ("SELECT children FROM roots WHERE id = 1", "[Integer(2)]"),
            ("SELECT double, kind FROM entries WHERE id = 100", "[Integer(200), Text(\"plain\")]"),
            ("SELECT json_group_array(text) FROM (SELECT text FROM entries WHERE parent = 1 ORDER BY id)", "[Text(\"[\\\"child\\\",\\\"cap@1\\\"]\")]"),
            ("SELECT count(*) FILTER (WHERE price > 104), total(price), group_concat(day, '/') FROM (SELECT * FROM prices ORDER BY item, day)", "[Integer(3), Real(1115.0), Text(\"1/1/2\")]"),
            ("SELECT p.item FROM prices AS p LEFT JOIN entries AS e ON e.text = p.label WHERE e.id IS NOT NULL", "[Text(\"cap\")]"),
            ("SELECT count(*) FROM entries FULL JOIN prices ON 0", "[Integer(7)]"),
            ("SELECT lag(price) OVER (PARTITION BY item ORDER BY day) FROM prices WHERE item = 'pen' ORDER BY day DESC LIMIT 1", "[Integer(105)]"),
            ("WITH RECURSIVE up (id, parent) AS (SELECT id, parent FROM entries WHERE id = 2 UNION ALL SELECT e.id, e.parent FROM entries e JOIN up ON e.id = up.parent) SELECT max(id), min(id) FROM up", "[Integer(2), Integer(1)]"),
            ("SELECT 'a ' = 'a' COLLATE RTRIM, 'A' = 'a' COLLATE NOCASE, 'A' = 'a' COLLATE BINARY", "[Integer(1), Integer(1), Integer(0)]"),
            ("SELECT (1, 2) < (1, 3), 3 IS DISTINCT FROM NULL, 7 / 2, 7 % 4, 1 << 3", "[Integer(1), Integer(1), Integer(3), Integer(3), Integer(8)]"),
            ("INSERT INTO entries (text) VALUES ('new') RETURNING id, kind", "[Integer(102), Text(\"plain\")]"),
            ("SELECT printf('%05d|%.2f|%s', 42, 1.5, 'x'), round(2.567, 1), substr('abcdef', 2, 3), typeof(1.0)", "[Text(\"00042|1.50|x\"), Real(2.6), Text(\"bcd\"), Text(\"real\")]"),
        ] {
            assert_eq!(one(text), expected, "{text}");
        }
        done()
    });
    assert!(matches!(
        performed.unwrap(),
        Performed::Done {
            replayed: false,
            ..
        }
    ));
    assert_eq!(fixture.count("SELECT count(*) FROM entries"), 5);
}

/// Many functions in one statement, each of which is cheap: such statements were refused for their number.
#[test]
fn statements_with_many_cheap_functions_run() {
    let fixture = Fixture::new();
    let fields: Vec<_> = (0..24)
        .map(|n| format!("f{n} AS (json_extract(doc, '$.f{n}'))"))
        .collect();
    let indexes: Vec<_> = (0..24)
        .map(|n| format!("CREATE INDEX docs_f{n} ON docs (f{n});"))
        .collect();
    let more = format!(
        "CREATE TABLE docs (id INTEGER PRIMARY KEY, doc TEXT CHECK (json_valid(doc)), {}); {}",
        fields.join(", "),
        indexes.concat()
    );
    let plugin = "p".parse().unwrap();
    let list = migrations(&[TABLES, &more]);
    fixture.store.install(&plugin, &list, at()).unwrap();
    let many = |count: usize, of: &dyn Fn(usize) -> String, with: &str| {
        (0..count).map(of).collect::<Vec<_>>().join(with)
    };
    fixture.writing(|sql| {
        for text in [
            format!(
                "INSERT INTO parts SELECT 1, column1 FROM (VALUES {}) WHERE 0",
                many(100, &|n| format!("(json_object('n', {n}, 'name', 'x'))"), ", ")
            ),
            format!(
                "INSERT INTO counters (name) VALUES {}",
                many(600, &|n| format!("(upper(lower('x{n}')))"), ", ")
            ),
            "INSERT INTO docs (id, doc) VALUES (1, '{}') ON CONFLICT (id) DO UPDATE SET doc = excluded.doc WHERE excluded.f1 IS NOT docs.f1".to_owned(),
            "REPLACE INTO docs (id, doc) VALUES (1, '{\"f1\": 1}')".to_owned(),
            format!("UPDATE docs SET doc = '{{}}' WHERE {}", many(24, &|n| format!("f{n} = 1"), " OR ")),
        ] {
            let result = sql.execute(&text, &[]);
            assert!(result.is_ok(), "{text:.200}: {result:?}");
        }
        for text in [
            format!("SELECT {} FROM docs", many(100, &|n| format!("json_extract(doc, '$.g{n}')"), ", ")),
            format!("SELECT {} FROM docs", many(100, &|n| format!("doc ->> 'g{n}'"), ", ")),
            format!("SELECT count(*) FROM items WHERE {}", many(39, &|n| format!("name LIKE '%{n}'"), " OR ")),
        ] {
            let result = sql.query(&text, &[]);
            assert!(result.is_ok(), "{text:.200}: {result:?}");
        }
    });
}

#[test]
fn a_column_may_be_added_with_all_that_sqlite_lets_it_have() {
    let fixture = Fixture::new();
    let more = "
        INSERT INTO items (name, n, body) VALUES ('a', 1, '{\"color\": \"red\"}');
        INSERT INTO counters VALUES ('a', 1);
        INSERT INTO parts VALUES (1, 'x');
        CREATE TABLE \"odd (name\" (a TEXT, b INTEGER NOT NULL, PRIMARY KEY (a), UNIQUE (a, b), CHECK (b > 0)) STRICT, WITHOUT ROWID;
        INSERT INTO \"odd (name\" VALUES ('a', 1);
        ALTER TABLE items ADD COLUMN color TEXT GENERATED ALWAYS AS (body ->> 'color') VIRTUAL CHECK (color IS NULL OR length(color) < 10);
        CREATE INDEX items_color ON items (upper(color)) WHERE color IS NOT NULL;
        ALTER TABLE items ADD size INTEGER NOT NULL DEFAULT (1) CHECK (size > 0 AND items.size < 100);
        ALTER TABLE main.counters ADD COLUMN kind TEXT DEFAULT 'plain' COLLATE NOCASE; -- the kind
        ALTER TABLE parts ADD COLUMN counter TEXT REFERENCES counters (name) ON DELETE SET NULL;
        ALTER TABLE \"odd (name\" ADD COLUMN \"c (\" ANY CHECK (\"c (\" LIKE 'x%' OR rowless(a)) /* ) */ ;
        ALTER TABLE counters RENAME COLUMN value TO count;
        ALTER TABLE parts RENAME TO pieces;"
        .replace("rowless(a)", "a GLOB '[a-z]*'");
    let plugin = "p".parse().unwrap();
    let list = migrations(&[TABLES, &more]);
    fixture.store.install(&plugin, &list, at()).unwrap();
    fixture.writing(|sql| {
        let rows = sql
            .query("SELECT color, size, kind, counter, \"c (\" FROM items, counters, pieces, \"odd (name\"", &[])
            .unwrap();
        let text = |text: &str| SqlValue::Text(text.into());
        assert_eq!(rows.rows, [[text("red"), SqlValue::Integer(1), text("plain"), SqlValue::Null, SqlValue::Null]]);
    });
}

/// What a statement may call its columns, its aliases and its parameters does not depend on who else is installed: `others`
/// is another plugin's table, and `others_x` could be its index.
#[test]
fn a_name_that_stands_for_no_table_may_be_somebody_elses() {
    let fixture = Fixture::new();
    let more = "
        CREATE TABLE notes (others TEXT, wharf TEXT);
        CREATE VIEW others_of (others) AS WITH x AS (SELECT others FROM notes AS others) SELECT others FROM x;";
    let plugin = "p".parse().unwrap();
    let list = migrations(&[TABLES, more]);
    fixture.store.install(&plugin, &list, at()).unwrap();
    fixture.writing(|sql| {
        let value = [SqlValue::Text("x".into())];
        sql.execute("INSERT INTO notes (others) VALUES (:others)", &value)
            .unwrap();
        for text in [
            "SELECT others FROM notes WHERE others = @others",
            "SELECT others.others FROM notes AS others WHERE others.others = $others",
            "SELECT others FROM others_of, (SELECT 1 AS others_x) WHERE others = ?1",
            "SELECT a FROM (SELECT ?1 AS a) AS others JOIN notes ON notes.others = a",
            "WITH others AS (SELECT ?1 AS a) SELECT a FROM others",
        ] {
            let rows = sql
                .query(text, &value)
                .unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            assert_eq!(rows.rows, [value.to_vec()], "{text}");
        }
    });
}
