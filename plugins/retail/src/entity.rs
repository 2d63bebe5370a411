//! Customers, products and orders: with these fields, in this order, tools answer them as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A product and the variants in which it is sold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// What it is called; unique.
    pub name: String,
    /// Its id.
    pub product_id: String,
    /// By item id.
    pub variants: BTreeMap<String, Variant>,
}

/// What can be ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Unique over all products.
    pub item_id: String,
    /// What sets it apart.
    pub options: Options,
    /// Whether it can be ordered now.
    pub available: bool,
    /// What it costs now.
    pub price: f64,
}

/// Name and value of each option.
pub type Options = BTreeMap<String, String>;

/// A customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// The customer's id.
    pub user_id: String,
    /// First and last.
    pub name: Name,
    /// Where orders go unless they say otherwise.
    pub address: Address,
    /// Unique, whatever its case.
    pub email: String,
    /// By id.
    pub payment_methods: BTreeMap<String, PaymentMethod>,
    /// Order ids.
    pub orders: Vec<String>,
}

/// A customer's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
}

/// A postal address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Street and number.
    pub address1: String,
    /// May be empty.
    pub address2: String,
    /// City.
    pub city: String,
    /// Country.
    pub country: String,
    /// State.
    pub state: String,
    /// Postal code.
    pub zip: String,
}

/// How a customer can pay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum PaymentMethod {
    /// A credit card.
    CreditCard {
        /// Unique among the customer's.
        id: String,
        /// Who issued it.
        brand: String,
        /// The last digits of its number.
        last_four: String,
    },
    /// A gift card: the only kind with a balance.
    GiftCard {
        /// Unique among the customer's.
        id: String,
        /// What is left on it.
        balance: f64,
    },
    /// A PayPal account.
    Paypal {
        /// Unique among the customer's.
        id: String,
    },
}

impl PaymentMethod {
    /// What is left on a gift card; none for the other kinds.
    pub fn balance(&self) -> Option<f64> {
        match self {
            Self::GiftCard { balance, .. } => Some(*balance),
            Self::CreditCard { .. } | Self::Paypal { .. } => None,
        }
    }
}

/// An order. Everything after the payments is absent until the operation that sets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Its id, with a leading `#`.
    pub order_id: String,
    /// Whose it is.
    pub user_id: String,
    /// Where it goes.
    pub address: Address,
    /// What was ordered; the same item may stand there more than once.
    pub items: Vec<Item>,
    /// How far it has come.
    pub status: Status,
    /// What was sent.
    pub fulfillments: Vec<Fulfillment>,
    /// What was paid and refunded, in order.
    pub payment_history: Vec<Payment>,
    /// Set by cancelling.
    pub cancel_reason: Option<String>,
    /// Set by exchanging, sorted.
    pub exchange_items: Option<Vec<String>>,
    /// Set by exchanging, sorted on its own.
    pub exchange_new_items: Option<Vec<String>>,
    /// Set by exchanging.
    pub exchange_payment_method_id: Option<String>,
    /// Set by exchanging.
    pub exchange_price_difference: Option<f64>,
    /// Set by returning, sorted.
    pub return_items: Option<Vec<String>>,
    /// Set by returning.
    pub return_payment_method_id: Option<String>,
}

/// How far an order has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Nothing has happened to it.
    #[serde(rename = "pending")]
    Pending,
    /// Its items were changed, which can be done once.
    #[serde(rename = "pending (item modified)")]
    PendingItemModified,
    /// It is being sent.
    #[serde(rename = "processed")]
    Processed,
    /// The customer has it.
    #[serde(rename = "delivered")]
    Delivered,
    /// It was cancelled.
    #[serde(rename = "cancelled")]
    Cancelled,
    /// The customer wants other items.
    #[serde(rename = "exchange requested")]
    ExchangeRequested,
    /// The customer sends it back.
    #[serde(rename = "return requested")]
    ReturnRequested,
}

impl Status {
    /// Pending, its items changed or not.
    pub fn is_any_pending(self) -> bool {
        matches!(self, Self::Pending | Self::PendingItemModified)
    }

    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::PendingItemModified => "pending (item modified)",
            Self::Processed => "processed",
            Self::Delivered => "delivered",
            Self::Cancelled => "cancelled",
            Self::ExchangeRequested => "exchange requested",
            Self::ReturnRequested => "return requested",
        }
    }
}

/// One ordered piece, with the price it was ordered for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The product's name.
    pub name: String,
    /// The product.
    pub product_id: String,
    /// The variant.
    pub item_id: String,
    /// What it cost.
    pub price: f64,
    /// The variant's options.
    pub options: Options,
}

/// One parcel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fulfillment {
    /// The carrier's numbers.
    pub tracking_id: Vec<String>,
    /// What was in it; changes of the order do not change it.
    pub item_ids: Vec<String>,
}

/// Money that went one way or the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// Which way.
    pub transaction_type: TransactionType,
    /// How much.
    pub amount: f64,
    /// By which of the customer's methods.
    pub payment_method_id: String,
}

/// Which way money went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransactionType {
    /// From the customer.
    Payment,
    /// To the customer.
    Refund,
}

impl TransactionType {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Refund => "refund",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payment_method_has_the_fields_of_its_kind_and_no_others() {
        let paypal = PaymentMethod::Paypal {
            id: "paypal_1".to_owned(),
        };
        assert_eq!(json!(paypal), json!({"source": "paypal", "id": "paypal_1"}));
        let card = PaymentMethod::GiftCard {
            id: "gift_card_1".to_owned(),
            balance: 5.0,
        };
        assert_eq!(
            json!(card).to_string(),
            r#"{"balance":5.0,"id":"gift_card_1","source":"gift_card"}"#
        );
    }

    #[test]
    fn people_and_programs_read_the_same_words() {
        for status in [
            Status::Pending,
            Status::PendingItemModified,
            Status::Processed,
            Status::Delivered,
            Status::Cancelled,
            Status::ExchangeRequested,
            Status::ReturnRequested,
        ] {
            assert_eq!(json!(status), json!(status.as_str()));
            assert_eq!(status.is_any_pending(), status.as_str().contains("pending"));
        }
        for kind in [TransactionType::Payment, TransactionType::Refund] {
            assert_eq!(json!(kind), json!(kind.as_str()));
        }
    }
}
