//! Reads, forges and deletes what the host keeps beside the plugin's tables, by all names it can think of. Nothing works.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, try_all};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(_: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        try_all(tx, ATTACKS)
    }
}

const ATTACKS: &[&str] = &[
    "SELECT * FROM wharf_ledger",
    "SELECT * FROM main.wharf_ledger",
    "SELECT * FROM WHARF_LEDGER",
    "INSERT INTO wharf_ledger DEFAULT VALUES",
    "DELETE FROM wharf_ledger",
    "UPDATE wharf_anchor SET sequence = 0",
    "SELECT * FROM wharf_workspace",
    "SELECT * FROM sqlite_schema",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM things, wharf_ledger",
    "SELECT (SELECT count(*) FROM wharf_tables)",
    "WITH l AS (SELECT * FROM wharf_ledger) SELECT * FROM l",
    "INSERT INTO things SELECT tenant, id FROM wharf_workspace",
    "DROP TABLE wharf_ledger",
    "ALTER TABLE things RENAME TO wharf_things",
    "CREATE TRIGGER t AFTER INSERT ON wharf_ledger BEGIN SELECT 1; END",
    "CREATE VIEW v AS SELECT * FROM wharf_ledger",
    "PRAGMA table_info(wharf_ledger)",
    "SELECT * FROM pragma_table_info('wharf_ledger')",
];
