//! JSON that is kept as it was written, read strictly and hashed canonically.
//!
//! Strict: one document, no duplicate key at any level, no number beyond 2^53 - 1 (an integer there would not
//! survive RFC 8785), bounded size and depth. Canonical: RFC 8785; used for hashing, and for nothing else.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::digest::Digest;

/// For what was bounded when it was first accepted.
const STORED: JsonBounds = JsonBounds {
    bytes: usize::MAX,
    depth: 100,
};

const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The most a JSON text may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonBounds {
    /// Bytes of the text.
    pub bytes: usize,
    /// Nested arrays and objects; a bare number has depth 0. At most 100.
    pub depth: usize,
}

/// Why a text was not accepted as JSON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// More bytes than allowed.
    #[error("the JSON text has {found} bytes, {allowed} are allowed")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// Not one strict JSON document.
    #[error("{0}")]
    Invalid(String),
}

/// Reads exactly one strict JSON document.
///
/// # Errors
/// Text that is too large, too deep, not JSON, followed by more text, holds a duplicate key or a number beyond 2^53 - 1.
pub fn parse_strict(text: &str, bounds: JsonBounds) -> Result<Value, JsonError> {
    if text.len() > bounds.bytes {
        return Err(JsonError::TooLarge {
            found: text.len(),
            allowed: bounds.bytes,
        });
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let invalid = |error: serde_json::Error| JsonError::Invalid(error.to_string());
    let value = Strict {
        depth_left: bounds.depth,
    }
    .deserialize(&mut reader)
    .map_err(invalid)?;
    reader.end().map_err(invalid)?;
    Ok(value)
}

/// The RFC 8785 form of a value.
#[must_use]
pub fn canonical<T: Serialize>(value: &T) -> String {
    serde_json_canonicalizer::to_string(value)
        .expect("a value with string keys and finite numbers has a canonical form")
}

/// JSON text exactly as somebody wrote it, known to be strict.
///
/// In the journal it is stored as a JSON string, so that the very text comes back.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// Accepts a text within bounds.
    ///
    /// # Errors
    /// As [`parse_strict`].
    pub fn parse(text: impl Into<String>, bounds: JsonBounds) -> Result<Self, JsonError> {
        let text = text.into();
        parse_strict(&text, bounds)?;
        Ok(Self(text))
    }

    /// The compact text of a value that this program made.
    #[must_use]
    pub fn of<T: Serialize>(value: &T) -> Self {
        Self(serde_json::to_string(value).expect("a value made here can be written as JSON"))
    }

    /// The text, byte for byte.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value it stands for.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).expect("the text was checked when it was accepted")
    }

    /// The RFC 8785 form.
    #[must_use]
    pub fn canonical(&self) -> String {
        canonical(&self.value())
    }

    /// The digest of the canonical form.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.canonical())
    }

    /// For embedding in a larger document as JSON, number text untouched.
    #[must_use]
    pub fn raw(&self) -> &serde_json::value::RawValue {
        serde_json::from_str(&self.0).expect("the text was checked when it was accepted")
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const STORED: JsonBounds = JsonBounds {
            bytes: usize::MAX,
            depth: 100,
        };
        Self::parse(String::deserialize(deserializer)?, STORED).map_err(D::Error::custom)
    }
}

/// Writes an optional [`JsonText`] as the JSON it is, not as a string: `#[serde(with = "embedded")]`.
pub mod embedded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
    use serde_json::value::RawValue;

    use super::{JsonText, STORED};

    /// Writes the text as it stands.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn serialize<S: Serializer>(
        text: &Option<JsonText>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_ref().map(JsonText::raw).serialize(serializer)
    }

    /// Keeps the text as it stands.
    ///
    /// # Errors
    /// Text that is not strict JSON.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<JsonText>, D::Error> {
        let raw = Option::<Box<RawValue>>::deserialize(deserializer)?;
        raw.map(|raw| JsonText::parse(raw.get(), STORED).map_err(D::Error::custom))
            .transpose()
    }
}

/// Builds a `Value` and refuses what a lenient reader lets pass.
struct Strict {
    depth_left: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(&self) -> Result<Self, E> {
        self.depth_left
            .checked_sub(1)
            .map(|depth_left| Self { depth_left })
            .ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("strict JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_SAFE_INTEGER {
            return Err(E::custom(format_args!(
                "the integer {value} is beyond 2^53 - 1"
            )));
        }
        Ok(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > MAX_SAFE_INTEGER {
            return Err(E::custom(format_args!(
                "the integer {value} is beyond 2^53 - 1"
            )));
        }
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // An integer too long for 64 bits arrives here, already rounded.
        if value.abs() > MAX_SAFE_INTEGER as f64 {
            return Err(E::custom(format_args!(
                "the number {value} is beyond 2^53 - 1"
            )));
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.deeper()?)? {
            items.push(item);
        }
        // An empty array at the very bound is still one level too many.
        self.deeper::<A::Error>()?;
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper::<A::Error>()?;
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} stands twice in one object"
                )));
            }
            let value = access.next_value_seed(Self {
                depth_left: inner.depth_left,
            })?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: JsonBounds = JsonBounds {
        bytes: 200,
        depth: 3,
    };

    #[test]
    fn exactly_one_document_without_duplicate_keys_is_read() {
        assert!(parse_strict(r#"{"a":{"b":[1,-2.5,"x",null,true]}}"#, BOUNDS).is_ok());
        for bad in [
            "",
            "{} {}",
            "{}x",
            r#"{"a":1,"a":2}"#,
            r#"{"x":{"a":1,"\u0061":2}}"#,
            "[[[[]]]]",
            "9007199254740992",
            "-9007199254740992",
            "123456789012345678901234567890",
            "1e999",
            "NaN",
            "\u{feff}{}",
            "[1,]",
        ] {
            assert!(parse_strict(bad, BOUNDS).is_err(), "{bad}");
        }
        assert!(parse_strict("[[[1]]]", BOUNDS).is_ok());
        assert!(matches!(
            parse_strict(&" ".repeat(201), BOUNDS),
            Err(JsonError::TooLarge {
                found: 201,
                allowed: 200
            })
        ));
    }

    #[test]
    fn the_text_is_kept_and_only_the_hash_is_canonical() {
        let text = JsonText::parse("{\"b\": 1.10, \"a\":2}", BOUNDS).unwrap();
        assert_eq!(text.as_str(), "{\"b\": 1.10, \"a\":2}");
        assert_eq!(text.canonical(), r#"{"a":2,"b":1.1}"#);
        assert_eq!(
            serde_json::from_str::<JsonText>(&serde_json::to_string(&text).unwrap()).unwrap(),
            text
        );
        assert_eq!(text.raw().get(), text.as_str());
    }
}
