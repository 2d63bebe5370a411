//! JSON as the benchmark writes it before hashing.

use serde_json::{Number, Value};

/// How a document is written; in both, keys are sorted by code point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `", "` and `": "`, and nothing but ASCII.
    Spaced,
    /// `,` and `:`, and characters as they are.
    Compact,
}

pub(crate) fn write(value: &Value, style: Style) -> String {
    let mut out = String::new();
    append(value, style, &mut out);
    out
}

fn append(value: &Value, style: Style, out: &mut String) {
    let (comma, colon) = match style {
        Style::Spaced => (", ", ": "),
        Style::Compact => (",", ":"),
    };
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => append_number(number, out),
        Value::String(text) => append_text(text, style, out),
        Value::Array(list) => {
            out.push('[');
            for (index, value) in list.iter().enumerate() {
                out.push_str(if index > 0 { comma } else { "" });
                append(value, style, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            // By bytes of UTF-8, which is by code point.
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if index > 0 { comma } else { "" });
                append_text(key, style, out);
                out.push_str(colon);
                append(value, style, out);
            }
            out.push('}');
        }
    }
}

fn append_text(text: &str, style: Style, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            '\u{7f}'.. if style == Style::Compact => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

fn append_number(number: &Number, out: &mut String) {
    match number.as_f64() {
        Some(double) if number.is_f64() => out.push_str(&double_text(double)),
        _ => out.push_str(&number.to_string()),
    }
}

/// The shortest digits that lead back to the double; plain from 1e-4 to below 1e16, with a digit on
/// each side of the point, else with a signed exponent of at least two digits.
fn double_text(number: f64) -> String {
    let shortest = format!("{number:e}");
    let (digits, exponent) = shortest.split_once('e').expect("a number with an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    if number == 0.0 || (-4..16).contains(&exponent) {
        // Rust's own plain notation has the same digits, and `{:?}` the fraction.
        let plain = format!("{number}");
        return match plain.contains('.') {
            true => plain,
            false => plain + ".0",
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
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
            assert_eq!(double_text(number), text);
        }
    }

    #[test]
    fn the_two_styles_differ_in_blanks_and_in_what_they_escape() {
        let value = json!({"b": [1.0, null, {}], "a": "\"\\/\n\u{1}\u{7f}é😀", "#": []});
        assert_eq!(
            write(&value, Style::Spaced),
            r##"{"#": [], "a": "\"\\/\n\u0001\u007f\u00e9\ud83d\ude00", "b": [1.0, null, {}]}"##
        );
        assert_eq!(
            write(&value, Style::Compact),
            "{\"#\":[],\"a\":\"\\\"\\\\/\\n\\u0001\u{7f}é😀\",\"b\":[1.0,null,{}]}"
        );
    }
}
