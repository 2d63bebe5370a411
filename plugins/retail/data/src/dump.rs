//! The tables as one document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wharf_plugin::{Json, Sql, SqlError, Tx};

use crate::text::{Style, write};

/// The whole shop, as the plugin's tables have it.
///
/// Rows are read into the very types that are written: fields stand in the order of their names, and
/// what only says where a row belongs is not written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dump {
    orders: BTreeMap<String, Order>,
    products: BTreeMap<String, Product>,
    users: BTreeMap<String, User>,
}

impl Dump {
    /// Reads all tables but the plugin's own record of what it has carried out.
    ///
    /// # Errors
    /// A table or a column is missing, or holds what it should not.
    pub fn read(sql: &dyn Sql) -> Result<Self, SqlError> {
        let tx = Tx::over(sql);
        Ok(Self {
            orders: orders(&tx)?,
            products: products(&tx)?,
            users: users(&tx)?,
        })
    }

    /// The document as the benchmark hashes it.
    pub fn text(&self) -> String {
        write(self, Style::Spaced)
    }

    /// SHA-256 of [`Self::text`], in lower-case hexadecimal: `tau2_hash` of the gold.
    pub fn tau2_hash(&self) -> String {
        sha256(&self.text())
    }

    /// SHA-256 of the compact form: `canonical_sha256` of the gold.
    pub fn canonical_hash(&self) -> String {
        sha256(&write(self, Style::Compact))
    }
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn orders(tx: &Tx<'_>) -> Result<BTreeMap<String, Order>, SqlError> {
    let rows: Vec<Order> = tx.rows(
        "SELECT order_id, user_id, status, fulfillments, cancel_reason, exchange_items, \
            exchange_new_items, exchange_payment_method_id, exchange_price_difference, \
            return_items, return_payment_method_id FROM orders",
        &[],
    )?;
    let mut orders: BTreeMap<_, _> = rows
        .into_iter()
        .map(|order| (order.order_id.clone(), order))
        .collect();
    let addresses: Vec<Located> = tx.rows(
        "SELECT order_id AS id, address1, address2, city, country, state, zip FROM orders",
        &[],
    )?;
    for row in addresses {
        owner(&mut orders, &row.id)?.address = row.address;
    }
    let items: Vec<Item> = tx.rows(
        "SELECT order_id, name, product_id, item_id, price, options FROM order_items \
            ORDER BY order_id, position",
        &[],
    )?;
    for item in items {
        owner(&mut orders, &item.order_id)?.items.push(item);
    }
    let payments: Vec<Payment> = tx.rows(
        "SELECT order_id, transaction_type, amount, payment_method_id FROM payments \
            ORDER BY order_id, position",
        &[],
    )?;
    for payment in payments {
        let order = owner(&mut orders, &payment.order_id)?;
        order.payment_history.push(payment);
    }
    Ok(orders)
}

fn products(tx: &Tx<'_>) -> Result<BTreeMap<String, Product>, SqlError> {
    let rows: Vec<Product> = tx.rows("SELECT product_id, name FROM products", &[])?;
    let mut products: BTreeMap<_, _> = rows
        .into_iter()
        .map(|product| (product.product_id.clone(), product))
        .collect();
    let variants: Vec<Variant> = tx.rows(
        "SELECT product_id, item_id, options, available, price FROM variants",
        &[],
    )?;
    for variant in variants {
        let product = owner(&mut products, &variant.product_id)?;
        product.variants.insert(variant.item_id.clone(), variant);
    }
    Ok(products)
}

fn users(tx: &Tx<'_>) -> Result<BTreeMap<String, User>, SqlError> {
    let rows: Vec<User> = tx.rows("SELECT user_id, email, orders FROM users", &[])?;
    let mut users: BTreeMap<_, _> = rows
        .into_iter()
        .map(|user| (user.user_id.clone(), user))
        .collect();
    let names: Vec<Named> = tx.rows(
        "SELECT user_id AS id, first_name, last_name, \
            address1, address2, city, country, state, zip FROM users",
        &[],
    )?;
    for row in names {
        let user = owner(&mut users, &row.id)?;
        (user.name, user.address) = (row.name, row.address);
    }
    let methods: Vec<PaymentMethod> = tx.rows(
        "SELECT user_id, id, source, brand, last_four, balance FROM payment_methods",
        &[],
    )?;
    for method in methods {
        let user = owner(&mut users, &method.user_id)?;
        user.payment_methods.insert(method.id.clone(), method);
    }
    Ok(users)
}

fn owner<'o, T>(owners: &'o mut BTreeMap<String, T>, id: &str) -> Result<&'o mut T, SqlError> {
    let found = owners.get_mut(id);
    found.ok_or_else(|| SqlError::Failed(format!("a row belongs to {id:?}, which is not there")))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    #[serde(skip_deserializing)]
    address: Address,
    cancel_reason: Option<String>,
    exchange_items: Option<Json<Vec<String>>>,
    exchange_new_items: Option<Json<Vec<String>>>,
    exchange_payment_method_id: Option<String>,
    exchange_price_difference: Option<f64>,
    fulfillments: Json<Vec<Fulfillment>>,
    #[serde(skip_deserializing)]
    items: Vec<Item>,
    order_id: String,
    #[serde(skip_deserializing)]
    payment_history: Vec<Payment>,
    return_items: Option<Json<Vec<String>>>,
    return_payment_method_id: Option<String>,
    status: String,
    user_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Item {
    item_id: String,
    name: String,
    options: Json<BTreeMap<String, String>>,
    #[serde(skip_serializing)]
    order_id: String,
    price: f64,
    product_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fulfillment {
    item_ids: Vec<String>,
    tracking_id: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Payment {
    amount: f64,
    #[serde(skip_serializing)]
    order_id: String,
    payment_method_id: String,
    transaction_type: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Product {
    name: String,
    product_id: String,
    #[serde(skip_deserializing)]
    variants: BTreeMap<String, Variant>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Variant {
    available: bool,
    item_id: String,
    options: Json<BTreeMap<String, String>>,
    price: f64,
    #[serde(skip_serializing)]
    product_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct User {
    #[serde(skip_deserializing)]
    address: Address,
    email: String,
    #[serde(skip_deserializing)]
    name: Name,
    orders: Json<Vec<String>>,
    #[serde(skip_deserializing)]
    payment_methods: BTreeMap<String, PaymentMethod>,
    user_id: String,
}

/// Only the fields of its own kind have a value, and only those are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PaymentMethod {
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brand: Option<String>,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_four: Option<String>,
    source: String,
    #[serde(skip_serializing)]
    user_id: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Address {
    address1: String,
    address2: String,
    city: String,
    country: String,
    state: String,
    zip: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Name {
    first_name: String,
    last_name: String,
}

#[derive(Deserialize)]
struct Located {
    id: String,
    #[serde(flatten)]
    address: Address,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(flatten)]
    name: Name,
    #[serde(flatten)]
    address: Address,
}
