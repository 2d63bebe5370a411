//! The host's transaction, as a plugin uses it.

use serde::de::DeserializeOwned;

use crate::bindings::wharf::domain::business;
use crate::row::Row;

pub use business::{RowSet, SqlError, Value};

/// Something that runs one statement at a time: the host, or a test's database.
///
/// Parameters are positional, the first is `?1`.
pub trait Sql {
    /// Runs one statement that returns rows.
    fn query(&self, sql: &str, params: &[Value]) -> Result<RowSet, SqlError>;

    /// Runs one statement that changes rows; yields how many.
    fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, SqlError>;
}

impl Sql for business::Transaction {
    fn query(&self, sql: &str, params: &[Value]) -> Result<RowSet, SqlError> {
        Self::query(self, sql, params)
    }

    fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, SqlError> {
        Self::execute(self, sql, params)
    }
}

/// The open transaction, which the host alone commits or rolls back. Valid for one call.
///
/// A row is read into a struct by its column names, into a tuple by their order, and into a plain
/// value if there is one column. `INTEGER` is read as an integer or, if it is 0 or 1, as a `bool`,
/// `NULL` as `None`, `TEXT` as a string, as an enum or, within [`Json`](crate::Json), as whatever it
/// holds. Numbers arrive exactly as they are stored.
#[derive(Clone, Copy)]
pub struct Tx<'a>(&'a dyn Sql);

impl<'a> Tx<'a> {
    /// A transaction over whatever runs its statements.
    pub fn over(sql: &'a dyn Sql) -> Self {
        Self(sql)
    }

    /// All rows of the answer.
    pub fn rows<T: DeserializeOwned>(
        &self,
        sql: &str,
        params: &[Value],
    ) -> Result<Vec<T>, SqlError> {
        let RowSet { columns, rows } = self.0.query(sql, params)?;
        rows.into_iter()
            .map(|row| Row::new(&columns, row).read())
            .collect::<Result<_, _>>()
            .map_err(|error| SqlError::Failed(format!("an unreadable row: {error}")))
    }

    /// The first row, if there is one.
    pub fn optional<T: DeserializeOwned>(
        &self,
        sql: &str,
        params: &[Value],
    ) -> Result<Option<T>, SqlError> {
        Ok(self.rows(sql, params)?.into_iter().next())
    }

    /// Changes rows; yields how many.
    pub fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, SqlError> {
        self.0.execute(sql, params)
    }

    /// Changes one row, no more and no less.
    pub fn change_one(&self, sql: &str, params: &[Value]) -> Result<(), SqlError> {
        match self.execute(sql, params)? {
            1 => Ok(()),
            changed => Err(SqlError::Failed(format!(
                "{changed} rows changed instead of one"
            ))),
        }
    }
}

/// The parameters of a statement: `params![name, 5, price, None::<i64>]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::Value::from($value)),*]
    };
}

macro_rules! values {
    ($($(#[$attribute:meta])* $from:ty => |$value:ident| $to:expr;)*) => {$(
        $(#[$attribute])*
        impl From<$from> for Value {
            fn from($value: $from) -> Self {
                $to
            }
        }
    )*};
}

values! {
    i64 => |value| Self::Integer(value);
    i32 => |value| Self::Integer(value.into());
    u32 => |value| Self::Integer(value.into());
    bool => |value| Self::Integer(value.into());
    f64 => |value| Self::Real(value);
    String => |value| Self::Text(value);
    &String => |value| Self::Text(value.clone());
    &str => |value| Self::Text(value.to_owned());
    Vec<u8> => |value| Self::Blob(value);
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}
