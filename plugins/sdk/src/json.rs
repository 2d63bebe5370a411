//! JSON text: of values, and inside columns.

use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::Value;

/// The compact JSON text of plain data.
///
/// # Panics
/// If the data has no JSON form: a map whose keys are no strings, say.
pub fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form")
}

/// A value that a column keeps as JSON text. Elsewhere it is the value itself: written to JSON, it is
/// no text within a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Json<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text)
            .map(Self)
            .map_err(D::Error::custom)
    }
}

impl<T: Serialize> Serialize for Json<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: Serialize> From<Json<T>> for Value {
    fn from(value: Json<T>) -> Self {
        Self::Text(json(&value.0))
    }
}
