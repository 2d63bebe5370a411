//! The reading of a table: presets, required keys, and the place of whatever is wrong.

use serde::{Serialize, de::DeserializeOwned};
use toml::{Table, Value};

use super::error::ConfigError;
use crate::words::scrub::scrub;

/// A preset and what differs from it, or every key.
pub(super) fn complete<T: Serialize + DeserializeOwned>(
    at: &str,
    mut given: Table,
    presets: &[(&str, T)],
) -> Result<T, ConfigError> {
    let names = || {
        let names: Vec<_> = presets
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        names.join(", ")
    };
    let preset = given.remove("preset");
    let all = |limits: &T| Table::try_from(limits).expect("limits are a table of numbers");
    let base = match &preset {
        None => {
            let standard = all(&presets[0].1);
            let missing: Vec<_> = standard
                .keys()
                .filter(|key| !given.contains_key(*key))
                .map(|key| format!("`{key}`"))
                .collect();
            if !missing.is_empty() {
                return Err(ConfigError::wrong(
                    at,
                    format!(
                        "it has neither a `preset` (one of {}) nor {}",
                        names(),
                        missing.join(", ")
                    ),
                ));
            }
            Table::new()
        }
        Some(Value::String(name)) => match presets.iter().find(|(known, _)| known == name) {
            Some((_, limits)) => all(limits),
            None => {
                return Err(ConfigError::wrong(
                    format!("{at}.preset"),
                    format!("`{name}` is none of {}", names()),
                ));
            }
        },
        Some(_) => {
            return Err(ConfigError::wrong(
                format!("{at}.preset"),
                format!("it is not one of {}", names()),
            ));
        }
    };
    let merged = base.into_iter().chain(given).collect();
    deserialize(at, merged)
}

pub(super) fn deserialize<T: DeserializeOwned>(at: &str, table: Table) -> Result<T, ConfigError> {
    table.try_into().map_err(|error: toml::de::Error| {
        // The key stands in the last line: "in `key`".
        let text = error.to_string();
        let (reason, key) = match text.trim_end().rsplit_once("\nin `") {
            Some((reason, key)) => (reason, Some(key.trim_end_matches('`'))),
            None => (text.trim_end(), None),
        };
        let unknown = reason.strip_prefix("unknown field `");
        let unknown = unknown.and_then(|rest| Some(rest.split_once('`')?.0));
        let key = key
            .or(unknown)
            .map_or_else(|| at.to_owned(), |key| format!("{at}.{key}"));
        ConfigError::wrong(scrub(key), scrub(for_people(reason)))
    })
}

/// Takes a table out, if it is there.
pub(super) fn table(root: &mut Table, key: &str) -> Result<Option<Table>, ConfigError> {
    match root.remove(key) {
        None => Ok(None),
        Some(Value::Table(table)) => Ok(Some(table)),
        Some(_) => Err(ConfigError::wrong(key, "it is not a table")),
    }
}

/// Whatever is left is not known.
pub(super) fn known(rest: &Table, at: &str, keys: &[&str]) -> Result<(), ConfigError> {
    match rest.keys().next() {
        None => Ok(()),
        Some(unknown) => Err(ConfigError::wrong(
            format!("{at}{unknown}"),
            format!("there is no such table; known are {}", keys.join(", ")),
        )),
    }
}

/// A reason without the value, since what belongs into the environment may stand in the wrong place, and without the names of
/// Rust's types.
fn for_people(reason: &str) -> String {
    let mut reason = reason.replace('\n', " ");
    for what in ["invalid type: string \"", "invalid value: string \""] {
        if reason.starts_with(what)
            && let Some(end) = reason.rfind("\", expected")
        {
            reason = format!("it is a text{}", &reason[end + 1..]);
        }
    }
    for (name, meaning) in [
        ("expected u32", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected usize", "expected a whole number"),
        ("expected i64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a map", "expected a table"),
    ] {
        reason = reason.replace(name, meaning);
    }
    reason
}
