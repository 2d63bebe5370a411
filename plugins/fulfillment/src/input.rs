//! What the request asks for: the domain's part of a task.

use std::ops::RangeInclusive;

use wharf_plugin::{Fields, Violation};

/// The bounds of `quantity`, in pieces.
pub const QUANTITY: RangeInclusive<i64> = 1..=100;
/// The bounds of `maxShippingCents`.
pub const MAX_SHIPPING_CENTS: RangeInclusive<i64> = 0..=100_000;
/// The longest `orderId`, in characters.
pub const ORDER_ID_LENGTH: usize = 80;

/// A request within all bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The order; the subject on which each operation happens at most once.
    pub order_id: String,
    /// Pieces of the article.
    pub quantity: i64,
    /// The most that the shipment may cost.
    pub max_shipping_cents: i64,
}

impl Input {
    /// Reads `task.input`, or lists everything that is wrong with it.
    pub fn parse(json: &str) -> Result<Self, Vec<Violation>> {
        let mut fields = Fields::of_input(json)?;
        let order_id = identifier(&mut fields, "orderId");
        let quantity = integer(&mut fields, "quantity", QUANTITY);
        let max_shipping_cents = integer(&mut fields, "maxShippingCents", MAX_SHIPPING_CENTS);
        fields.finish(|| {
            Some(Self {
                order_id: order_id?,
                quantity: quantity?,
                max_shipping_cents: max_shipping_cents?,
            })
        })
    }
}

fn identifier(fields: &mut Fields, name: &str) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let fits = |id: &&str| (1..=ORDER_ID_LENGTH).contains(&id.len()) && id.bytes().all(allowed);
    let rule = format!("1 to {ORDER_ID_LENGTH} letters, digits, `_` or `-`");
    fields.take(name, &rule, |value| {
        value.as_str().filter(fits).map(str::to_owned)
    })
}

fn integer(fields: &mut Fields, name: &str, bounds: RangeInclusive<i64>) -> Option<i64> {
    let rule = format!("an integer from {} to {}", bounds.start(), bounds.end());
    fields.take(name, &rule, |value| {
        value.as_i64().filter(|number| bounds.contains(number))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn codes(input: Value) -> Vec<String> {
        let faults = Input::parse(&input.to_string()).expect_err("a refused input");
        faults.into_iter().map(|fault| fault.code).collect()
    }

    fn accepts(order_id: &str, quantity: i64, max_shipping_cents: i64) -> bool {
        let input = json!({"orderId": order_id, "quantity": quantity, "maxShippingCents": max_shipping_cents});
        Input::parse(&input.to_string()).is_ok()
    }

    #[test]
    fn a_request_is_read_field_by_field() {
        let input =
            Input::parse(r#"{"orderId": "ORDER-1001", "quantity": 2, "maxShippingCents": 500}"#);
        assert_eq!(
            input,
            Ok(Input {
                order_id: "ORDER-1001".to_owned(),
                quantity: 2,
                max_shipping_cents: 500
            })
        );
    }

    #[test]
    fn both_ends_of_every_range_are_allowed_and_the_next_values_are_not() {
        assert!(accepts("A", 1, 0) && accepts(&"A".repeat(80), 100, 100_000));
        assert!(!accepts("A", 0, 0) && !accepts("A", 101, 0));
        assert!(!accepts("A", 1, -1) && !accepts("A", 1, 100_001));
        assert!(!accepts("", 1, 0) && !accepts(&"A".repeat(81), 1, 0));
    }

    #[test]
    fn an_order_id_holds_only_ascii_letters_digits_underscore_and_hyphen() {
        for id in ["A B", "A/B", "A\0", "ÄRGER", "А"] {
            assert!(!accepts(id, 1, 0), "{id:?}");
        }
    }

    #[test]
    fn numbers_must_be_json_integers() {
        for quantity in [
            json!("2"),
            json!(2.0),
            json!(2.5),
            json!(null),
            json!(u64::MAX),
        ] {
            let input = json!({"orderId": "A", "quantity": quantity, "maxShippingCents": 0});
            assert_eq!(codes(input), ["invalid-field"]);
        }
    }

    #[test]
    fn all_faults_are_listed_at_once_and_each_only_once() {
        let input = json!({"quantity": 0, "maxShippingCents": "500", "sku": "A", "carrier": "B"});
        assert_eq!(
            codes(input),
            [
                "missing-field",
                "invalid-field",
                "invalid-field",
                "unknown-field",
                "unknown-field"
            ]
        );
    }

    #[test]
    fn an_unknown_field_alone_refuses_the_input() {
        let input = json!({"orderId": "A", "quantity": 1, "maxShippingCents": 0, "sku": "A"});
        assert_eq!(codes(input), ["unknown-field"]);
    }

    #[test]
    fn anything_but_an_object_is_one_fault() {
        for input in [json!([]), json!("ORDER-1001"), json!(null)] {
            assert_eq!(codes(input), ["invalid-input"]);
        }
        assert!(Input::parse("{").is_err());
    }
}
