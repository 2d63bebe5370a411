//! The rows of a plugin's query, copied out of SQLite within what the call may still return.

use rusqlite::{Statement, types::ValueRef};

use super::plugin_sql::{Stop, failed};
use crate::core::ports::business::{RowSet, SqlValue};

/// What a value counts beside its own length.
const VALUE_OVERHEAD: u64 = 16;

/// What a query may still return.
pub(super) struct Left {
    pub(super) rows: u32,
    pub(super) bytes: u64,
}

impl Left {
    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        let bytes = VALUE_OVERHEAD.saturating_add(bytes as u64);
        self.bytes = match self.bytes.checked_sub(bytes) {
            Some(left) => left,
            None => {
                self.bytes = 0;
                return Err(Stop::TooMuch(
                    "the queries of this call return too many bytes".into(),
                ));
            }
        };
        Ok(())
    }
}

/// All rows of the statement.
pub(super) fn collect(statement: &mut Statement<'_>, left: &mut Left) -> Result<RowSet, Stop> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    for column in &columns {
        left.spend(column.len())?;
    }
    let mut set = RowSet {
        columns,
        rows: Vec::new(),
    };
    let width = set.columns.len();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        left.rows = left
            .rows
            .checked_sub(1)
            .ok_or_else(|| Stop::TooMuch("the query returns too many rows".into()))?;
        let mut values = Vec::with_capacity(width);
        for index in 0..width {
            values.push(value(row.get_ref(index)?, left)?);
        }
        set.rows.push(values);
    }
    Ok(set)
}

fn value(value: ValueRef<'_>, left: &mut Left) -> Result<SqlValue, Stop> {
    Ok(match value {
        ValueRef::Null => {
            left.spend(0)?;
            SqlValue::Null
        }
        ValueRef::Integer(value) => {
            left.spend(0)?;
            SqlValue::Integer(value)
        }
        ValueRef::Real(value) => {
            left.spend(0)?;
            SqlValue::Real(value)
        }
        ValueRef::Text(bytes) => {
            left.spend(bytes.len())?;
            let text = String::from_utf8(bytes.to_vec())
                .map_err(|_| failed("a text in the result is not UTF-8"))?;
            SqlValue::Text(text)
        }
        ValueRef::Blob(bytes) => {
            left.spend(bytes.len())?;
            SqlValue::Blob(bytes.to_vec())
        }
    })
}
