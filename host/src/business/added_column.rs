//! Looks at a column before `ALTER TABLE ... ADD COLUMN` adds it.
//!
//! SQLite asks nobody about the functions in its definition, and runs them on every row before the statement ends. So the
//! table is defined with the column in a database of its own, where they are asked about, and what would run is weighed.

use std::{collections::HashSet, sync::Arc, time::Instant};

use rusqlite::{Connection, Error, OptionalExtension};

use super::{
    catalog::Owned,
    confinement::{May, Rules},
    own_schema::OwnSchema,
    statements::{self, Alteration},
};

/// Why an `ALTER` may not be run. In the host's phase.
pub(super) fn refusal(
    statement: &str,
    rules: &Rules,
    connection: &Connection,
    until: Instant,
) -> Result<Option<String>, Error> {
    let (table, column) = match statements::alteration(statement) {
        Alteration::Rename => return Ok(None),
        Alteration::Other => {
            return Ok(Some("a table is changed in a way that is not known".into()));
        }
        Alteration::Add { table, column } => (table.to_ascii_lowercase(), column),
    };
    let definition: Option<String> = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?1",
            [&table],
            |row| row.get(0),
        )
        .optional()?;
    let Some(definition) = definition.filter(|_| rules.own.names.contains(&table)) else {
        return Ok(Some(format!("{table} is not the plugin's own")));
    };
    let alone = OwnSchema::default();
    let with_column = statements::with_column(&definition, column);
    let rules = Rules {
        own: Owned {
            names: Arc::new(HashSet::from([table])),
            ..Owned::default()
        },
        may: May::Create,
        ..rules.clone()
    };
    if let Some(refusal) = alone.refusal(&with_column, &rules, connection, until)? {
        return Ok(Some(refusal));
    }
    alone.define(&with_column)?;
    alone.calls("PRAGMA quick_check")
}
