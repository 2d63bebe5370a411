//! Migrations that are none: they reach for the host's tables, other files and triggers. Each is refused, and the database
//! is as it was.

use hostile::{Descriptor, Guest, Migration};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn redescribe(descriptor: &mut Descriptor) {
        let attacks = [
            "DROP TABLE wharf_ledger",
            "CREATE TABLE stolen AS SELECT * FROM wharf_workspace",
            "DELETE FROM wharf_ledger",
            "CREATE TRIGGER t AFTER INSERT ON wharf_ledger BEGIN DELETE FROM wharf_ledger; END",
            "CREATE VIEW stolen AS SELECT * FROM wharf_workspace",
            "ATTACH 'stolen.sqlite' AS stolen",
            "CREATE TABLE wharf_forged (x)",
            "CREATE TABLE a (x); COMMIT; DROP TABLE wharf_ledger",
            "PRAGMA writable_schema = ON",
        ];
        let migration = |(version, sql): (u32, &str)| Migration {
            version,
            sql: sql.into(),
        };
        descriptor.migrations = (1..).zip(attacks).map(migration).collect();
    }
}
