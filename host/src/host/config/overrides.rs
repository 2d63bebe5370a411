//! Keys of the configuration that the environment sets: `WHARF__TABLE__KEY=value`.
//!
//! Owns what such a name and such a value mean. The environment itself is read by whoever calls.

use toml::{Table, Value};

use super::error::ConfigError;

/// What such a variable's name begins with.
const PREFIX: &str = "WHARF__";

/// The keys that the environment sets.
#[derive(Debug, Clone, Default)]
pub struct Overrides(Vec<Override>);

#[derive(Debug, Clone)]
struct Override {
    variable: String,
    path: Vec<String>,
    value: Value,
}

impl Overrides {
    /// None.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Those of the variables whose name begins with `WHARF__`. What follows are the names of tables and of a key, with two
    /// underscores between them. The value is read as one of TOML, and where it is none, as text.
    ///
    /// # Errors
    /// A name with an empty part.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        let mut found = Vec::new();
        for (variable, value) in variables {
            let Some(path) = variable.strip_prefix(PREFIX) else {
                continue;
            };
            let path: Vec<_> = path.split("__").map(str::to_ascii_lowercase).collect();
            if path.iter().any(String::is_empty) {
                return Err(ConfigError::variable(
                    &variable,
                    "a part of the name is empty; write it as WHARF__TABLE__KEY",
                ));
            }
            found.push(Override {
                variable,
                path,
                value: read(value),
            });
        }
        // The environment has no order of its own.
        found.sort_by(|one, other| one.variable.cmp(&other.variable));
        Ok(Self(found))
    }

    /// Puts the values in place of those of the file.
    pub(super) fn apply(&self, root: &mut Table) -> Result<(), ConfigError> {
        self.0.iter().try_for_each(|one| one.apply(root))
    }

    /// Names the variable that set the key at fault, if one did.
    pub(super) fn blame(&self, error: ConfigError) -> ConfigError {
        let ConfigError::Wrong { key, reason } = error else {
            return error;
        };
        let at: Vec<_> = key.split('.').map(normal).collect();
        let shares = |one: &&Override| {
            let mut parts = one.path.iter().map(|part| normal(part)).zip(&at);
            parts.all(|(part, at)| part == *at)
        };
        let reason = match self.0.iter().find(shares) {
            None => reason,
            Some(one) if one.path.len() <= at.len() => {
                let quotes = if reason.ends_with("expected a string") {
                    "; a text that reads like something else needs quotes of its own: '\"...\"'"
                } else {
                    ""
                };
                let variable = &one.variable;
                format!("{reason} (set by the environment variable {variable}{quotes})")
            }
            Some(one) => format!(
                "{reason} (the environment variable {} sets a key of it)",
                one.variable
            ),
        };
        ConfigError::Wrong { key, reason }
    }
}

impl Override {
    fn apply(&self, root: &mut Table) -> Result<(), ConfigError> {
        let Some((last, tables)) = self.path.split_last() else {
            return Ok(());
        };
        let mut table = root;
        for part in tables {
            let key = self.key(table, part)?;
            let inner = table
                .entry(key)
                .or_insert_with(|| Value::Table(Table::new()));
            table = match inner {
                Value::Table(inner) => inner,
                _ => {
                    return Err(ConfigError::variable(
                        &self.variable,
                        format!("`{part}` is not a table in the file"),
                    ));
                }
            };
        }
        let key = self.key(table, last)?;
        table.insert(key, self.value.clone());
        Ok(())
    }

    /// The key of the file that a part means: names of variables have no small letters and no `-`.
    fn key(&self, table: &Table, part: &str) -> Result<String, ConfigError> {
        if table.contains_key(part) {
            return Ok(part.to_owned());
        }
        let mut like = table.keys().filter(|key| normal(key) == normal(part));
        match (like.next(), like.next()) {
            (None, _) => Ok(part.to_owned()),
            (Some(key), None) => Ok(key.clone()),
            (Some(one), Some(other)) => Err(ConfigError::variable(
                &self.variable,
                format!("it may mean `{one}` and `{other}`"),
            )),
        }
    }
}

fn normal(key: &str) -> String {
    key.to_ascii_lowercase().replace('-', "_")
}

fn read(text: String) -> Value {
    let document = format!("value = {text}").parse::<Table>();
    let one = |mut table: Table| (table.len() == 1).then(|| table.remove("value")).flatten();
    document.ok().and_then(one).unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(variables: &[(&str, &str)]) -> Result<Overrides, ConfigError> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Overrides::of(variables.iter().map(owned))
    }

    fn applied(text: &str, variables: &[(&str, &str)]) -> Result<Table, ConfigError> {
        let mut root = text.parse().unwrap();
        overrides(variables)?.apply(&mut root)?;
        Ok(root)
    }

    #[test]
    fn a_value_is_one_of_toml_or_a_text() {
        for (written, read_as) in [
            ("7", Value::Integer(7)),
            ("true", Value::Boolean(true)),
            ("0.5", Value::Float(0.5)),
            ("\"7\"", Value::String("7".into())),
            ("[1]", Value::Array(vec![Value::Integer(1)])),
            ("http://h/v1", Value::String("http://h/v1".into())),
            ("", Value::String(String::new())),
            ("1\nother = 2", Value::String("1\nother = 2".into())),
        ] {
            assert_eq!(read(written.to_owned()), read_as, "{written}");
        }
    }

    #[test]
    fn a_name_finds_the_key_that_the_file_has() {
        let file = "[providers.My-Own]\nmodel = 'a'\n[providers.My-Own.headers]\nX-Title = 'a'\n[engine]\nqueue = 1";
        let root = applied(
            file,
            &[
                ("WHARF__PROVIDERS__MY_OWN__MODEL", "b"),
                ("WHARF__PROVIDERS__MY_OWN__HEADERS__X_TITLE", "b"),
                ("WHARF__ENGINE__QUEUE", "2"),
                ("WHARF__NEW__KEY", "3"),
                ("WHARF_LOG", "info"),
            ],
        );
        let expected = "[providers.My-Own]\nmodel = 'b'\n[providers.My-Own.headers]\nX-Title = 'b'\n[engine]\nqueue = 2\n[new]\nkey = 3";
        assert_eq!(root.unwrap(), expected.parse::<Table>().unwrap());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_variable() {
        for (file, variable) in [
            ("", "WHARF__"),
            ("", "WHARF__A____B"),
            ("a = 1", "WHARF__A__B"),
            ("[t]\na-b = 1\nA_b = 1", "WHARF__T__A_B"),
        ] {
            let error = applied(file, &[(variable, "1")]).unwrap_err();
            assert!(error.to_string().contains(variable), "{error}");
        }
    }

    #[test]
    fn the_variable_of_a_wrong_key_is_named() {
        let overrides = overrides(&[("WHARF__PROVIDERS__MY_OWN__MODEL", "1")]).unwrap();
        let blamed = |key: &str| {
            let error = overrides.blame(ConfigError::wrong(key, "r"));
            matches!(error, ConfigError::Wrong { reason, .. } if reason.contains("WHARF__PROVIDERS__MY_OWN__MODEL"))
        };
        assert!(blamed("providers.my-own.model"));
        assert!(blamed("providers.My_Own.model.inner"));
        assert!(blamed("providers.my-own"));
        assert!(!blamed("providers.my-own.base_url"));
        assert!(!blamed("engine"));
    }
}
