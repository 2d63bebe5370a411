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
