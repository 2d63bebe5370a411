//! From a row of values to a Rust type.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::sql::Value;

/// One row with the names of its columns.
pub(crate) struct Row<'a> {
    columns: &'a [String],
    values: Vec<Value>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(columns: &'a [String], values: Vec<Value>) -> Self {
        Self { columns, values }
    }

    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        T::deserialize(self)
    }

    /// The value of the only column.
    fn only(self) -> Result<Column, Error> {
        let count = self.values.len();
        let mut values = self.values.into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Ok(Column(value)),
            _ => Err(Error::custom(format_args!(
                "{count} columns instead of one"
            ))),
        }
    }
}

macro_rules! only_column {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.only()?.$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Row<'_> {
    type Error = Error;

    only_column! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_option deserialize_unit
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let columns = self.columns.iter().map(String::as_str);
        let fields = columns.zip(self.values.into_iter().map(Column));
        visitor.visit_map(MapDeserializer::new(fields))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(SeqDeserializer::new(self.values.into_iter().map(Column)))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.only()?.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 unit_struct map struct identifier ignored_any
    }
}

/// One value of a row.
struct Column(Value);

impl<'de> IntoDeserializer<'de> for Column {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Column {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Real(number) => visitor.visit_f64(number),
            Value::Text(text) => visitor.visit_string(text),
            Value::Blob(bytes) => visitor.visit_byte_buf(bytes),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Integer(0) => visitor.visit_bool(false),
            Value::Integer(1) => visitor.visit_bool(true),
            Value::Integer(other) => {
                Err(Error::invalid_value(Unexpected::Signed(other), &"0 or 1"))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::Text(text) = self.0 else {
            return Err(Error::custom("an enum is stored as text"));
        };
        IntoDeserializer::<Error>::into_deserializer(text).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::Json;

    fn read<T: DeserializeOwned>(columns: &[&str], values: Vec<Value>) -> Result<T, Error> {
        let columns: Vec<_> = columns.iter().map(|name| (*name).to_owned()).collect();
        Row::new(&columns, values).read()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Red,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Paint {
        colour: Colour,
        litres: f64,
        sold: bool,
        note: Option<String>,
        mixed: Json<BTreeMap<String, i64>>,
        tags: Option<Json<Vec<String>>>,
        icon: Option<Vec<u8>>,
    }

    const COLUMNS: [&str; 7] = ["colour", "litres", "sold", "note", "mixed", "tags", "icon"];

    fn paint() -> Vec<Value> {
        vec![
            text("red"),
            Value::Real(0.1 + 0.2),
            Value::Integer(1),
            Value::Null,
            text(r#"{"a": 1}"#),
            text("[]"),
            Value::Null,
        ]
    }

    #[test]
    fn a_struct_is_read_by_column_names_whatever_their_order() {
        let expected = Paint {
            colour: Colour::Red,
            litres: 0.1 + 0.2,
            sold: true,
            note: None,
            mixed: Json(BTreeMap::from([("a".to_owned(), 1)])),
            tags: Some(Json(Vec::new())),
            icon: None,
        };
        assert_eq!(read(&COLUMNS, paint()), Ok(expected));
        let mut columns = COLUMNS;
        let mut values = paint();
        columns.reverse();
        values.reverse();
        assert!(read::<Paint>(&columns, values).is_ok());
    }

    #[test]
    fn tuples_are_read_by_position_and_single_columns_as_they_are() {
        assert_eq!(
            read(&["a", "b"], vec![Value::Integer(-1), text("x")]),
            Ok((-1_i64, "x".to_owned()))
        );
        assert_eq!(read(&["a"], vec![Value::Integer(7)]), Ok(7_u32));
        assert_eq!(read(&["a"], vec![Value::Null]), Ok(None::<String>));
        assert_eq!(read(&["a"], vec![text("red")]), Ok(Colour::Red));
        assert_eq!(read(&["a"], vec![text("[1]")]), Ok(Json(vec![1])));
    }

    #[test]
    fn every_double_arrives_bit_by_bit() {
        for number in [-0.0, 3.050_000_000_000_011_4, f64::MIN_POSITIVE, 1e300] {
            let found: f64 = read(&["a"], vec![Value::Real(number)]).expect("a double");
            assert_eq!(found.to_bits(), number.to_bits());
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_says_so() {
        let wrong = |columns: &[&str], values| {
            read::<Paint>(columns, values)
                .expect_err("a misfit")
                .to_string()
        };
        let changed = |index: usize, value| {
            let mut values = paint();
            values[index] = value;
            wrong(&COLUMNS, values)
        };
        assert!(changed(0, text("blue")).contains("unknown variant `blue`"));
        assert!(changed(1, text("1.5")).contains("expected f64"));
        assert!(changed(2, Value::Integer(2)).contains("expected 0 or 1"));
        assert!(changed(4, text("{")).contains("EOF"));
        assert!(wrong(&COLUMNS[1..], paint().split_off(1)).contains("missing field `colour`"));
        assert!(read::<i64>(&["a", "b"], vec![Value::Null, Value::Null]).is_err());
    }
}
