//! Rows as Rust types, over the host's transaction.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::bindings::exports::wharf::domain::tools::Failure;
use super::bindings::wharf::domain::business::{SqlError, Transaction, Value};

/// Runs one statement that returns rows, each read into `T` by its column names.
pub(super) fn rows<T: DeserializeOwned>(
    tx: &Transaction,
    sql: &str,
    params: &[Value],
) -> Result<Vec<T>, Failure> {
    let found = tx.query(sql, params).map_err(failure)?;
    let parsed = found.rows.into_iter().map(|row| {
        let columns = found.columns.iter().cloned();
        let fields: Map<_, _> = columns.zip(row.into_iter().map(json)).collect();
        serde_json::from_value(Json::Object(fields))
    });
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Rejected(format!("an unreadable row: {error}")))
}

/// Runs one statement that must change one row, no more and no less.
pub(super) fn change_one(tx: &Transaction, sql: &str, params: &[Value]) -> Result<(), Failure> {
    match tx.execute(sql, params).map_err(failure)? {
        1 => Ok(()),
        changed => Err(Failure::Rejected(format!(
            "{changed} rows changed instead of one"
        ))),
    }
}

/// No plan helps against a database that does not answer.
fn failure(error: SqlError) -> Failure {
    Failure::Rejected(match error {
        SqlError::Denied(message) => format!("the host denied a statement: {message}"),
        SqlError::Constraint(message) => format!("a constraint is violated: {message}"),
        SqlError::Limit(message) => format!("a statement exceeded a limit: {message}"),
        SqlError::Failed(message) => format!("a statement failed: {message}"),
    })
}

/// The tables of this plugin hold integers, texts and nulls only.
fn json(value: Value) -> Json {
    match value {
        Value::Null | Value::Blob(_) => Json::Null,
        Value::Integer(number) => number.into(),
        Value::Real(number) => number.into(),
        Value::Text(text) => text.into(),
    }
}
