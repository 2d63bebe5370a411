//! From bytes to calls of a plugin with statements. Each byte is a choice, and behind the last one all choices are the
//! first: every input ends.

mod definitions;

use super::{
    super::core::{contract::Effect, ports::business::SqlValue},
    vocabulary::{
        COLLATIONS, COLUMNS, CONFLICTS, FUNCTIONS, LITERALS, OPERATORS, OTHERS, PRAGMAS, SCHEMAS,
        SHARED, TABLE_FUNCTIONS, TABLES, TOKENS, TRANSACTIONS,
    },
};

/// Expressions and queries inside each other.
const DEPTH: u32 = 5;

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) plugin: &'static str,
    /// None: a read outside any operation.
    pub(super) effect: Option<Effect>,
    /// Applied before the call, each as a migration.
    pub(super) migrations: Vec<String>,
    pub(super) statements: Vec<Statement>,
}

/// One statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) parameters: Vec<SqlValue>,
}

/// What is left of the bytes.
pub(super) struct Grammar<'a> {
    bytes: &'a [u8],
    depth: u32,
}

impl<'a> Grammar<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, depth: 0 }
    }

    pub(super) fn calls(mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        while calls.len() < 4 && !self.bytes.is_empty() {
            let (plugin, effect) = match self.below(8) {
                0..=3 => ("p", Some(Effect::Write)),
                4 | 5 => ("p", None),
                6 => ("p", Some(Effect::Read)),
                _ => ("q", Some(Effect::Write)),
            };
            let migrations = match self.below(6) {
                5 if plugin == "p" => (0..=self.below(3)).map(|_| self.script()).collect(),
                _ => Vec::new(),
            };
            let statements = (0..=self.below(6)).map(|_| self.statement()).collect();
            calls.push(Call {
                plugin,
                effect,
                migrations,
                statements,
            });
        }
        calls
    }

    fn below(&mut self, bound: usize) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        usize::from(*first) % bound
    }

    fn maybe(&mut self) -> bool {
        self.below(2) == 1
    }

    fn seldom(&mut self) -> bool {
        self.below(16) == 1
    }

    fn of_list(&mut self, list: &'static [&'static str]) -> &'static str {
        list[self.below(list.len())]
    }

    fn statement(&mut self) -> Statement {
        self.depth = 0;
        let mut text = self.text();
        if self.seldom() {
            let (head, tail) = (self.noise(), self.noise());
            text = format!("{head}{text}{tail}");
        }
        if self.seldom() {
            text = format!("{text}; {}", self.text());
        }
        let mut parameters = Vec::new();
        // What fits, mostly.
        let wanted = text.matches(['?', '$', '@', '#']).count().min(4);
        let count = if self.seldom() { self.below(5) } else { wanted };
        for _ in 0..count {
            parameters.push(self.value());
        }
        Statement { text, parameters }
    }

    fn text(&mut self) -> String {
        match self.below(24) {
            0..=5 => self.select(),
            6..=9 => self.insert(),
            10..=12 => self.update(),
            13 | 14 => self.delete(),
            15 => self.of_list(TRANSACTIONS).to_owned(),
            16 => format!("PRAGMA {}{}", self.schema(), self.of_list(PRAGMAS)),
            17 => self.of_list(OTHERS).to_owned(),
            18 => self.create(),
            19 => self.bomb(),
            20 => self.soup(),
            21 => format!("{} {}", self.with(), self.insert()),
            22 => format!("EXPLAIN {}", self.select()),
            _ => format!("{} {}", self.with(), self.select()),
        }
    }

    fn value(&mut self) -> SqlValue {
        match self.below(8) {
            0 => SqlValue::Integer(1),
            1 => SqlValue::Null,
            2 => SqlValue::Integer(i64::MIN),
            3 => SqlValue::Real(f64::NAN),
            4 => SqlValue::Text("a".repeat(1 << self.below(19))),
            5 => SqlValue::Blob(vec![0xff; 1 << self.below(19)]),
            6 => SqlValue::Text("wharf_ledger".to_owned()),
            _ => SqlValue::Text("\0\u{feff}'\";--".to_owned()),
        }
    }

    fn noise(&mut self) -> &'static str {
        self.of_list(&[
            "", "/* */", "-- x\n", ";", " ", "\t\n", "/*p*/", "\u{feff}", "/*", "--", "\u{0}", "(",
            ")", "\u{c}", "EXPLAIN ",
        ])
    }

    fn schema(&mut self) -> &'static str {
        if self.below(4) == 1 {
            self.of_list(SCHEMAS)
        } else {
            ""
        }
    }

    /// A name in one of its spellings.
    fn quoted(&mut self, name: &str) -> String {
        match self.below(12) {
            0..=5 => name.to_owned(),
            6 => format!("\"{name}\""),
            7 => format!("[{name}]"),
            8 => format!("`{name}`"),
            9 => name.to_ascii_uppercase(),
            10 => format!("'{name}'"),
            _ => format!("\"{name} \""),
        }
    }

    /// The plugin's own twice as often as all others together.
    fn table(&mut self) -> String {
        let list = if self.below(3) == 2 {
            TABLES
        } else {
            &TABLES[..6]
        };
        let name = self.of_list(list);
        format!("{}{}", self.schema(), self.quoted(name))
    }

    fn column(&mut self) -> String {
        let list = if self.below(3) == 2 {
            COLUMNS
        } else {
            &COLUMNS[..8]
        };
        let name = self.of_list(list);
        if name.contains(['*', '.']) || self.below(4) != 1 {
            name.to_owned()
        } else {
            self.quoted(name)
        }
    }

    /// One to three, with commas.
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> String) -> String {
        let items: Vec<_> = (0..=self.below(3)).map(|_| item(self)).collect();
        items.join(", ")
    }

    fn deeper(&mut self, shallow: &'static str, deep: impl FnOnce(&mut Self) -> String) -> String {
        if self.depth >= DEPTH {
            return shallow.to_owned();
        }
        self.depth += 1;
        let text = deep(self);
        self.depth -= 1;
        text
    }

    fn expression(&mut self) -> String {
        self.deeper("1", |g| match g.below(20) {
            0..=2 => g.of_list(LITERALS).to_owned(),
            3..=6 => g.column(),
            7 | 8 => {
                let operator = g.of_list(OPERATORS);
                format!("({} {operator} {})", g.expression(), g.expression())
            }
            9..=11 => g.call(),
            12 => format!("({})", g.select()),
            13 => format!("EXISTS ({})", g.select()),
            14 => format!("{} IN {}", g.expression(), g.table()),
            15 => format!("{} IN ({})", g.expression(), g.select()),
            16 => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                g.expression(),
                g.expression(),
                g.expression()
            ),
            17 => format!(
                "CAST({} AS {})",
                g.expression(),
                g.of_list(&["TEXT", "INTEGER", "BLOB", "nothing"])
            ),
            18 => format!("{} COLLATE {}", g.expression(), g.of_list(COLLATIONS)),
            _ => g
                .of_list(&[
                    "?1",
                    "?",
                    "?2",
                    ":a",
                    "RAISE(ROLLBACK, 'x')",
                    "RAISE(IGNORE)",
                    "(1, 2)",
                    "?300",
                    "$a(')",
                    "coalesce(@b('), 1)",
                    ":c(\")",
                    "#d(--)",
                    "$e::f(/*)",
                    "$::g(`)",
                    "?1wharf_ledger",
                    "x'00''wharf_ledger'",
                    "$h",
                ])
                .to_owned(),
        })
    }

    fn call(&mut self) -> String {
        let list = if self.below(3) == 2 {
            FUNCTIONS
        } else {
            &FUNCTIONS[..28]
        };
        let name = self.of_list(list);
        let name = if self.seldom() {
            self.quoted(name)
        } else {
            name.to_owned()
        };
        let arguments = match self.below(6) {
            0 => self.expression(),
            1 => "*".to_owned(),
            2 => String::new(),
            3 => format!("DISTINCT {}", self.expression()),
            _ => self.list(Self::expression),
        };
        let window = match self.below(12) {
            1 => format!(
                " OVER (PARTITION BY {} ORDER BY {})",
                self.column(),
                self.column()
            ),
            2 => format!(" FILTER (WHERE {})", self.expression()),
            _ => String::new(),
        };
        format!("{name}({arguments}){window}")
    }

    fn source(&mut self) -> String {
        self.deeper("items", |g| match g.below(10) {
            0..=4 => g.table(),
            5 => format!(
                "{} AS {}",
                g.table(),
                g.of_list(&["a", "wharf_ledger", "items", "new", "sqlite_master"])
            ),
            6 => format!("({}) AS sub", g.select()),
            7 => g.of_list(TABLE_FUNCTIONS).to_owned(),
            8 => {
                let join = g.of_list(&[
                    "JOIN",
                    "LEFT JOIN",
                    ",",
                    "NATURAL JOIN",
                    "CROSS JOIN",
                    "FULL JOIN",
                    "RIGHT JOIN",
                    "NATURAL LEFT JOIN",
                    "NATURAL RIGHT JOIN",
                    "NATURAL FULL JOIN",
                ]);
                let text = format!("{} {join} {}", g.source(), g.source());
                if g.below(4) == 1 && !join.starts_with("NATURAL") && join != "," {
                    format!("{text} USING ({})", g.list(Self::column))
                } else {
                    text
                }
            }
            _ => format!(
                "{} {}",
                g.table(),
                g.of_list(&[
                    "NOT INDEXED",
                    "INDEXED BY items_small",
                    "INDEXED BY wharf_ledger_task"
                ])
            ),
        })
    }

    fn select(&mut self) -> String {
        self.deeper("SELECT 1", |g| {
            let mut text = match g.below(14) {
                12 | 13 => g.shared(),
                0 => return format!("SELECT * FROM {}", g.source()),
                1 => format!("VALUES ({})", g.list(Self::expression)),
                2 => format!("SELECT count(*) FROM {}", g.source()),
                3 => format!(
                    "SELECT DISTINCT {} FROM {}",
                    g.list(Self::expression),
                    g.source()
                ),
                4 => format!("{} SELECT * FROM {}", g.with(), g.source()),
                _ => format!("SELECT {} FROM {}", g.list(Self::expression), g.source()),
            };
            if g.maybe() && !text.starts_with("VALUES") {
                text = format!("{text} WHERE {}", g.expression());
            }
            match g.below(10) {
                1 => text = format!("{text} GROUP BY {} HAVING {}", g.column(), g.expression()),
                2 => {
                    let word = g.of_list(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
                    text = format!("{text} {word} {}", g.select());
                }
                3 => {
                    text = format!(
                        "{text} ORDER BY {} LIMIT {}",
                        g.expression(),
                        g.expression()
                    )
                }
                _ => {}
            }
            text
        })
    }

    /// A column that a table shares with an expression: SQLite asks nobody about it.
    fn shared(&mut self) -> String {
        let table = self.table();
        let list = if self.maybe() { SHARED } else { COLUMNS };
        let column = self.of_list(list);
        let other = match self.below(3) {
            0 => format!("(SELECT 0 AS {column})"),
            1 => format!("(VALUES ({})) AS g ({column})", self.expression()),
            _ => self.table(),
        };
        let sides = self.of_list(&["FULL JOIN", "RIGHT JOIN", "LEFT JOIN", "JOIN"]);
        let (left, right) = if self.maybe() {
            (other, table)
        } else {
            (table, other)
        };
        let joined = if self.maybe() {
            format!("{left} NATURAL {sides} {right}")
        } else {
            format!("{left} {sides} {right} USING ({column})")
        };
        match self.below(6) {
            0 => format!("SELECT count(*) FROM {joined}"),
            1 => format!("SELECT * FROM {joined}"),
            // What is not used, SQLite may leave out.
            2 => format!("SELECT 1 AS one FROM {joined}"),
            // What stands between the two is a text for whoever does not know where these parameters end.
            3 => format!(
                "SELECT {column} || coalesce($a('), '') FROM {joined} WHERE coalesce($b('), 1)"
            ),
            _ => format!("SELECT {column} FROM {joined}"),
        }
    }

    /// Common table expressions, also by names that stand for something else.
    fn with(&mut self) -> String {
        let name = self.of_list(&[
            "c0",
            "items",
            "wharf_ledger",
            "others",
            "sqlite_master",
            "pragma_table_list",
            "json_each",
            "\"c0\"",
            "small_items",
        ]);
        match self.below(4) {
            0 => format!("WITH {name} AS ({})", self.select()),
            1 => format!(
                "WITH {name} (x) AS NOT MATERIALIZED ({}), c1 AS ({})",
                self.select(),
                self.select()
            ),
            2 => format!(
                "WITH RECURSIVE {name} (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM {name} WHERE i < {})",
                self.of_list(LITERALS)
            ),
            _ => format!(
                "WITH RECURSIVE {name} (i, x) AS ({} UNION SELECT i, {} FROM {name} LIMIT 50)",
                self.select(),
                self.expression()
            ),
        }
    }

    fn insert(&mut self) -> String {
        let verb = match self.below(6) {
            1 => "REPLACE".to_owned(),
            _ => format!("INSERT{}", self.of_list(CONFLICTS)),
        };
        let rest = match self.below(8) {
            0 => "counters VALUES ('a', 1)".to_owned(),
            1 => format!(
                "items (name, n, body) VALUES ({}, {}, {})",
                self.expression(),
                self.expression(),
                self.expression()
            ),
            2 => format!(
                "counters SELECT {}, {} FROM {}",
                self.expression(),
                self.expression(),
                self.source()
            ),
            3 => format!("{} DEFAULT VALUES", self.table()),
            4 => format!("later VALUES ({})", self.expression()),
            5 => format!(
                "parts VALUES ({}, {})",
                self.expression(),
                self.expression()
            ),
            6 => format!(
                "counters VALUES ('a', {}) ON CONFLICT (name) DO UPDATE SET value = {}",
                self.expression(),
                self.expression()
            ),
            _ => format!(
                "{} ({}) {}",
                self.table(),
                self.list(Self::column),
                self.select()
            ),
        };
        format!("{verb} INTO {rest}{}", self.returning())
    }

    fn update(&mut self) -> String {
        let conflict = self.of_list(CONFLICTS);
        let mut text = match self.below(5) {
            0 => format!("UPDATE{conflict} items SET n = {}", self.expression()),
            1 => format!(
                "UPDATE{conflict} counters SET value = {}, name = {}",
                self.expression(),
                self.expression()
            ),
            2 => format!("UPDATE{conflict} items SET n = 7 FROM {}", self.source()),
            _ => format!(
                "UPDATE{conflict} {} SET {} = {}",
                self.table(),
                self.column(),
                self.expression()
            ),
        };
        if self.maybe() {
            text = format!("{text} WHERE {}", self.expression());
        }
        format!("{text}{}", self.returning())
    }

    fn delete(&mut self) -> String {
        let table = self.table();
        match self.below(3) {
            0 => format!("DELETE FROM {table}{}", self.returning()),
            _ => format!(
                "DELETE FROM {table} WHERE {}{}",
                self.expression(),
                self.returning()
            ),
        }
    }

    fn returning(&mut self) -> String {
        match self.below(6) {
            1 => format!(" RETURNING {}", self.list(Self::expression)),
            2 => " RETURNING *".to_owned(),
            _ => String::new(),
        }
    }

    /// What takes time or room.
    fn bomb(&mut self) -> String {
        const ENDLESS: &str = "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r)";
        match self.below(9) {
            0 => format!("{ENDLESS} SELECT count(*) FROM r"),
            1 => format!("{ENDLESS} INSERT INTO counters SELECT 'c' || i, i FROM r"),
            2 => format!("{ENDLESS} SELECT i FROM r ORDER BY i DESC"),
            3 => format!("{ENDLESS} SELECT group_concat({}) FROM r", self.expression()),
            4 => format!("{ENDLESS} UPDATE counters SET value = (SELECT count(*) FROM r)"),
            5 => "SELECT count(*) FROM items a, items b, items c, items d, items e, items f, items g, items h, items i, items j, items k, items l".to_owned(),
            6 => format!("SELECT replace(printf('%.*c', 100000, 'a'), 'a', {})", self.expression()),
            7 => format!("SELECT printf('%.*c', {}, 'a')", self.of_list(LITERALS)),
            _ => format!("{ENDLESS} INSERT INTO items (name, n, body) SELECT i, 1, printf('%.*c', 100000, 'a') FROM r LIMIT 200"),
        }
    }

    fn soup(&mut self) -> String {
        let words: Vec<_> = (0..self.below(24))
            .map(|_| match self.below(4) {
                0 => self.of_list(TABLES),
                1 => self.of_list(LITERALS),
                _ => self.of_list(TOKENS),
            })
            .collect();
        words.join(if self.maybe() { "" } else { " " })
    }
}
