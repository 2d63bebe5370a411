//! Definitions: at run time, where all are refused, and in migrations.

use super::{
    super::vocabulary::{FUNCTIONS, NEW, TABLES},
    Grammar,
};

impl Grammar<'_> {
    /// One to three statements of a migration.
    pub(super) fn script(&mut self) -> String {
        self.depth = 0;
        let statements: Vec<_> = (0..=self.below(3))
            .map(|_| match self.below(12) {
                0..=3 => self.alter(),
                4 | 5 => format!("CREATE VIEW {} AS {}", self.of_list(NEW), self.query()),
                6 | 7 => format!(
                    "CREATE TABLE {} (a, {}, {})",
                    self.of_list(NEW),
                    self.column_definition("b"),
                    self.column_definition("c")
                ),
                8 => format!(
                    "CREATE INDEX {} ON {} ({})",
                    self.of_list(NEW),
                    self.table(),
                    self.expression()
                ),
                9 => format!(
                    "DROP {} {}",
                    self.of_list(&["TABLE", "VIEW", "INDEX"]),
                    self.of_list(TABLES)
                ),
                10 => self.insert(),
                _ => self.text(),
            })
            .collect();
        statements.join(";\n")
    }

    fn alter(&mut self) -> String {
        let table = if self.maybe() {
            self.table()
        } else {
            self.of_list(NEW).to_owned()
        };
        match self.below(8) {
            0 => format!("ALTER TABLE {table} RENAME TO {}", self.of_list(NEW)),
            1 => format!(
                "ALTER TABLE {table} RENAME COLUMN {} TO {}",
                self.column(),
                self.column()
            ),
            2 => format!("ALTER TABLE {table} DROP COLUMN {}", self.column()),
            _ => {
                let word = self.of_list(&["COLUMN ", "", "/**/column "]);
                let name = self.of_list(&["d", "\"e (\"", "x"]);
                format!(
                    "ALTER TABLE {table} ADD {word}{}",
                    self.column_definition(name)
                )
            }
        }
    }

    fn column_definition(&mut self, name: &str) -> String {
        let expression = self.expression();
        match self.below(6) {
            0 => format!("{name} CHECK ({expression})"),
            1 => format!("{name} AS ({expression})"),
            2 => format!("{name} DEFAULT ({expression})"),
            3 => format!("{name} REFERENCES {}", self.table()),
            4 => format!("{name} AS ({}({}))", self.of_list(FUNCTIONS), self.column()),
            _ => format!(
                "{name} CHECK ({}({}) IS NOT NULL)",
                self.of_list(FUNCTIONS),
                self.column()
            ),
        }
    }

    /// Also one with a part that nothing uses.
    fn query(&mut self) -> String {
        match self.below(3) {
            0 => format!("{} SELECT 1 AS one", self.with()),
            1 => self.shared(),
            _ => self.select(),
        }
    }

    pub(super) fn create(&mut self) -> String {
        let temp = self.of_list(&["", "TEMP ", "TEMPORARY "]);
        let table = self.table();
        match self.below(6) {
            0 => format!("CREATE {temp}TABLE {table} ({})", self.list(Self::column)),
            1 => format!("CREATE {temp}TABLE more AS {}", self.select()),
            2 => format!("CREATE {temp}VIEW {table} AS {}", self.select()),
            3 => format!(
                "CREATE {temp}TRIGGER more AFTER INSERT ON {table} BEGIN {}; {}; END",
                self.insert(),
                self.delete()
            ),
            4 => format!(
                "CREATE {temp}TRIGGER more INSTEAD OF UPDATE ON {table} BEGIN {}; END",
                self.update()
            ),
            _ => format!(
                "CREATE INDEX {}more ON {table} ({})",
                self.schema(),
                self.expression()
            ),
        }
    }
}
