//! The guards behind the authorizer, each alone: what a program opens and calls, and which names no text may hold.

use super::*;
use crate::business::{
    bytecode::{self, Pages, roots},
    catalog::{is_hidden, is_reserved},
    confinement::Gate,
};

/// Neither the authorizer nor the guard on names has a say here: the connection is the host's, in the host's phase.
#[test]
fn the_program_of_a_statement_shows_what_the_authorizer_is_not_asked_about() {
    let fixture = Fixture::new();
    fixture.add("t1", "k1");
    let told = |text: &str| {
        let mut told = None;
        fixture
            .store
            .reading(|connection| {
                let own = ["items", "counters", "parts", "small_items"];
                let pages = Pages::of(&roots(connection).unwrap(), |table| own.contains(&table));
                told = bytecode::refusal(connection, &Gate::new(), text, &pages).unwrap();
                Ok(())
            })
            .unwrap();
        told
    };
    for text in [
        "SELECT task FROM wharf_ledger FULL JOIN (SELECT 0 AS task) USING (task)",
        "SELECT count(*) FROM wharf_ledger a JOIN wharf_ledger b USING (task)",
        "SELECT sql FROM sqlite_schema NATURAL FULL JOIN (SELECT 0 AS sql)",
        "SELECT x FROM others FULL JOIN (SELECT 0 AS x) USING (x)",
        "SELECT name FROM sqlite_temp_schema",
        "SELECT name FROM pragma_table_list FULL JOIN (SELECT 0 AS name) USING (name)",
        "SELECT name FROM dbstat",
        "SELECT seq FROM sqlite_sequence",
        "SELECT count(*) FROM sqlite_sequence",
        "INSERT INTO counters SELECT name, seq FROM sqlite_sequence",
        "INSERT INTO items (name, n) SELECT name, seq FROM sqlite_sequence",
        "UPDATE counters SET value = (SELECT seq FROM sqlite_sequence)",
        "UPDATE sqlite_sequence SET seq = 7",
        "DELETE FROM sqlite_sequence",
        "DELETE FROM sqlite_sequence WHERE seq = 7",
        "INSERT INTO sqlite_sequence VALUES ('x', 7)",
        "DELETE FROM others",
        "DELETE FROM wharf_ledger",
        "INSERT INTO counters SELECT task, 1 FROM wharf_anchors",
    ] {
        let told = told(text).unwrap_or_else(|| panic!("not refused: {text}"));
        assert!(told.contains("not the plugin's own"), "{text}: {told}");
    }
    for (text, words) in [
        ("SELECT random()", "function random may not be called"),
        (
            "SELECT ltrim(name) FROM items",
            "function ltrim may not be called",
        ),
        ("BEGIN", "instruction AutoCommit"),
        ("DROP TABLE items", "not the plugin's own"),
        ("PRAGMA user_version = 7", "may not be used here"),
    ] {
        let told = told(text).unwrap_or_else(|| panic!("not refused: {text}"));
        assert!(told.contains(words), "{text}: {told}");
    }
    for text in [
        "INSERT INTO items (name, n) VALUES ('x', 1) RETURNING id",
        "INSERT INTO items (name, n) SELECT name, n FROM items WHERE 0",
        "REPLACE INTO items VALUES (7, 'x', 1, NULL)",
        "INSERT INTO items (name, n) VALUES ('x', 1) ON CONFLICT (name) DO UPDATE SET n = 2",
        "DELETE FROM items",
        "DELETE FROM counters",
        "UPDATE items SET n = 2 WHERE name LIKE 'a%'",
        "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT count(DISTINCT i) FROM r ORDER BY 1",
        "SELECT count(*) FROM parts JOIN items ON items.id = parts.item LEFT JOIN counters USING (name)",
        "SELECT a.value FROM json_each('[1]') a, json_tree('[2]') b",
        "SELECT sum(n) OVER (ORDER BY name), json_extract(body, '$.a') FROM items",
        "SELECT * FROM small_items",
    ] {
        assert_eq!(told(text), None, "{text}");
    }
}

#[test]
fn every_table_that_a_module_of_this_build_makes_up_is_hidden_or_one_of_those_that_may_be_used() {
    let fixture = Fixture::new();
    fixture
        .store
        .reading(|connection| {
            // SQLite registers some of its modules when they are first used.
            connection
                .prepare("SELECT 1 FROM json_each, json_tree")
                .unwrap();
            let modules: Vec<String> = connection
                .prepare("SELECT name FROM pragma_module_list")
                .unwrap()
                .query_map((), |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            assert!(modules.len() > 5, "{modules:?}");
            let mut usable = Vec::new();
            for module in modules {
                let is_table = connection
                    .prepare(&format!("SELECT 1 FROM \"{module}\""))
                    .is_ok();
                if is_table && !is_hidden(&module) {
                    assert!(is_reserved(&module), "{module}");
                    usable.push(module);
                }
            }
            usable.sort();
            assert_eq!(usable, ["json_each", "json_tree"]);
            Ok(())
        })
        .unwrap();
}
