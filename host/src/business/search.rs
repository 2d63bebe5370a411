//! `instr` and `replace` in linear time, in place of SQLite's own.
//!
//! SQLite's compare the whole needle at every place: with two texts of 64 KiB one call took up to 0.2 s, which nothing can
//! interrupt, and one statement has room for thousands of calls. These answer as SQLite's do, save that a real number is
//! refused: its text would have to be SQLite's to the last digit.

use std::{borrow::Cow, sync::Arc};

use memchr::memmem;
use rusqlite::{
    Connection, Error, ffi,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};

use super::confinement::Gate;

/// Puts both in place of SQLite's own, on one connection.
pub(super) fn replace_builtins(connection: &Connection, gate: &Arc<Gate>) -> Result<(), Error> {
    let pure = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, pure, |context| instr(context))?;
    let gate = Arc::clone(gate);
    connection.create_scalar_function("replace", 3, pure, move |context| {
        replace(context, gate.value_bytes())
    })
}

fn instr(context: &Context<'_>) -> Result<Option<i64>, Error> {
    let (hay, needle) = (context.get_raw(0), context.get_raw(1));
    let in_bytes = matches!((hay, needle), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(hay), Some(needle)) = (bytes(hay)?, bytes(needle)?) else {
        return Ok(None);
    };
    let Some(at) = memmem::find(&hay, &needle) else {
        return Ok(Some(0));
    };
    let before = &hay[..at];
    let characters = || before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    let before = if in_bytes { at } else { characters() };
    Ok(Some(i64::try_from(before).unwrap_or(i64::MAX - 1) + 1))
}

fn replace(context: &Context<'_>, longest: usize) -> Result<Value, Error> {
    let (Some(text), Some(pattern)) = (bytes(context.get_raw(0))?, bytes(context.get_raw(1))?)
    else {
        return Ok(Value::Null);
    };
    if pattern.first().is_none_or(|byte| *byte == 0) {
        return as_text(text.into_owned());
    }
    let Some(by) = bytes(context.get_raw(2))? else {
        return Ok(Value::Null);
    };
    let mut result = Vec::new();
    let mut copied = 0;
    for at in memmem::find_iter(&text, &pattern) {
        result.extend_from_slice(&text[copied..at]);
        result.extend_from_slice(&by);
        copied = at + pattern.len();
        if result.len() > longest {
            return Err(Error::SqliteFailure(
                ffi::Error::new(ffi::SQLITE_TOOBIG),
                None,
            ));
        }
    }
    result.extend_from_slice(&text[copied..]);
    as_text(result)
}

fn as_text(bytes: Vec<u8>) -> Result<Value, Error> {
    String::from_utf8(bytes)
        .map(Value::Text)
        .map_err(|_| refused("replace takes texts that are UTF-8"))
}

/// What SQLite makes of a value where a text is asked for; none for NULL.
fn bytes(value: ValueRef<'_>) -> Result<Option<Cow<'_, [u8]>>, Error> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(value) => Ok(Some(Cow::Owned(value.to_string().into_bytes()))),
        ValueRef::Real(_) => Err(refused(
            "instr and replace take no real number: cast it to a text",
        )),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Some(Cow::Borrowed(bytes))),
    }
}

fn refused(message: &str) -> Error {
    Error::UserFunctionError(message.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::open;

    /// One connection with SQLite's own functions, one with these.
    fn both() -> (Connection, Connection) {
        let ours = open::in_memory().unwrap();
        replace_builtins(&ours, &Gate::new()).unwrap();
        (open::in_memory().unwrap(), ours)
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::Integer),
            (-20i64..130).prop_map(Value::Integer),
            "[abé1]{0,6}".prop_map(Value::Text),
            "[ab]{0,30}".prop_map(Value::Text),
            "[ab]{0,3}".prop_map(|text| Value::Blob(text.into_bytes())),
        ]
    }

    proptest! {
        #[test]
        fn they_answer_as_sqlites_own(x in value(), y in value(), z in value()) {
            let (theirs, ours) = both();
            for sql in ["SELECT instr(?1, ?2), ?3", "SELECT replace(?1, ?2, ?3), typeof(replace(?1, ?2, ?3))"] {
                let ask = |connection: &Connection| -> (Value, Value) {
                    let values = [x.clone(), y.clone(), z.clone()];
                    connection.query_row(sql, values, |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
                };
                prop_assert_eq!(ask(&ours), ask(&theirs), "{}", sql);
            }
        }
    }

    #[test]
    fn a_result_is_too_long_before_it_is_made_and_a_real_number_is_refused() {
        let gate = Gate::new();
        let connection = open::in_memory().unwrap();
        replace_builtins(&connection, &gate).unwrap();
        gate.limit_values(1000);
        let ask = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, String>(0));
        let long = "SELECT replace(printf('%.*c', 900, 'a'), 'a', printf('%.*c', 900, 'b'))";
        let error = ask(long).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::TooBig));
        assert_eq!(
            ask("SELECT replace('aXbXX', 'X', '--')").unwrap(),
            "a--b----"
        );
        assert!(ask("SELECT replace(1.5, '.', ',')").is_err());
    }
}
