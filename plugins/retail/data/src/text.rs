//! JSON as the benchmark writes it before hashing.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `", "` and `": "`, and nothing but ASCII.
    Spaced,
    /// `,` and `:`, and characters as they are.
    Compact,
}

/// Writes fields and keys in the order in which they come.
pub(crate) fn write(value: &impl Serialize, style: Style) -> String {
    let mut out = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut out, style))
        .expect("plain data has a JSON form");
    String::from_utf8(out).expect("JSON is UTF-8")
}

impl Style {
    fn separate<W: Write + ?Sized>(self, out: &mut W, first: bool) -> io::Result<()> {
        match self {
            _ if first => Ok(()),
            Self::Spaced => out.write_all(b", "),
            Self::Compact => out.write_all(b","),
        }
    }
}

impl Formatter for Style {
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        match self {
            Self::Spaced => out.write_all(b": "),
            Self::Compact => out.write_all(b":"),
        }
    }

    fn write_f64<W: Write + ?Sized>(&mut self, out: &mut W, number: f64) -> io::Result<()> {
        out.write_all(double(number).as_bytes())
    }

    /// What the serializer has found needs no escape in JSON.
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let is_plain = |c: char| (' '..='~').contains(&c);
        if *self == Self::Compact || fragment.chars().all(is_plain) {
            return out.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            if is_plain(c) {
                write!(out, "{c}")?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// The shortest digits that lead back to the double; plain from 1e-4 to below 1e16, with a digit on
/// each side of the point, else with a signed exponent of at least two digits.
fn double(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        let plain = number.to_string();
        return if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    format!(
        "{digits}e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn doubles_are_written_with_the_shortest_digits_and_always_a_fraction_or_an_exponent() {
        for (number, text) in [
            (5.0, "5.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (0.0, "0.0"),
            (-17.99, "-17.99"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (5.684_341_886_080_802e-14, "5.684341886080802e-14"),
            (3.050_000_000_000_011_4, "3.0500000000000114"),
            (71.960_000_000_000_01, "71.96000000000001"),
        ] {
            assert_eq!(double(number), text);
        }
    }

    #[test]
    fn the_two_styles_differ_in_blanks_and_in_what_they_escape() {
        let value = json!({"#": [], "a": "\"\\/\n\u{8}\u{1}\u{7f}é😀", "b": [1.0, null, {}, true]});
        assert_eq!(
            write(&value, Style::Spaced),
            r##"{"#": [], "a": "\"\\/\n\b\u0001\u007f\u00e9\ud83d\ude00", "b": [1.0, null, {}, true]}"##
        );
        assert_eq!(
            write(&value, Style::Compact),
            "{\"#\":[],\"a\":\"\\\"\\\\/\\n\\b\\u0001\u{7f}é😀\",\"b\":[1.0,null,{},true]}"
        );
    }
}
