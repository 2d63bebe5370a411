//! All that a database holds, as text, for comparison byte by byte.
//!
//! Also compiled into the fuzz targets, so it knows nothing but SQLite.

use rusqlite::{Connection, types::ValueRef};

/// One line for each row of each table that `of` accepts, and for the schema and the settings that a file keeps. Rows of
/// the ledger and the anchors that belong to `task` are left out: what a call that is committed adds by right.
pub(crate) fn state(connection: &Connection, task: &str, of: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for pragma in [
        "user_version",
        "application_id",
        "page_size",
        "encoding",
        "journal_mode",
        "auto_vacuum",
    ] {
        text += &rows(connection, &format!("PRAGMA {pragma}"), pragma);
    }
    text += &rows(
        connection,
        "SELECT * FROM sqlite_schema ORDER BY type, name",
        "schema",
    );
    let mut names = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .expect("every database has a schema");
    let names = names.query_map((), |row| row.get::<_, String>(0));
    for name in names.expect("a schema can be read") {
        let name = name.expect("a name is a text");
        if !of(&name) {
            continue;
        }
        let unless = match name.as_str() {
            "wharf_ledger" | "wharf_anchors" => format!("WHERE task <> '{task}'"),
            _ => String::new(),
        };
        let quoted = name.replace('"', "\"\"");
        let sql = format!("SELECT * FROM \"{quoted}\" {unless}");
        text += &rows(connection, &sql, &name);
    }
    text
}

fn rows(connection: &Connection, sql: &str, title: &str) -> String {
    let mut statement = connection.prepare(sql).expect("the table is there");
    let width = statement.column_count();
    let mut lines = Vec::new();
    let mut rows = statement.query(()).expect("it can be read");
    while let Some(row) = rows.next().expect("it can be read") {
        let mut line = title.to_owned();
        for index in 0..width {
            line += &match row.get_ref(index).expect("the column is there") {
                ValueRef::Null => " null".to_owned(),
                ValueRef::Integer(value) => format!(" {value}"),
                ValueRef::Real(value) => format!(" r{:x}", value.to_bits()),
                ValueRef::Text(bytes) => format!(" {:?}", String::from_utf8_lossy(bytes)),
                ValueRef::Blob(bytes) => format!(" x{bytes:02x?}"),
            };
        }
        lines.push(line + "\n");
    }
    lines.sort();
    lines.concat()
}
