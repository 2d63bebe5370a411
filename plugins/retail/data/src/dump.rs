//! The tables as one document.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use wharf_plugin::{Json, Sql, SqlError, Tx};

use crate::text::{Style, write};

/// The whole shop, as the plugin's tables have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dump(Value);

impl Dump {
    /// Reads all tables but the plugin's own record of what it has carried out.
    ///
    /// # Errors
    /// A table or a column is missing, or holds what it should not.
    pub fn read(sql: &dyn Sql) -> Result<Self, SqlError> {
        let tx = Tx::over(sql);
        Ok(Self(json!({
            "products": products(&tx)?,
            "users": users(&tx)?,
            "orders": orders(&tx)?,
        })))
    }

    /// The document as the benchmark hashes it.
    pub fn text(&self) -> String {
        write(&self.0, Style::Spaced)
    }

    /// SHA-256 of [`Self::text`], in lower-case hexadecimal: `tau2_hash` of the gold.
    pub fn tau2_hash(&self) -> String {
        sha256(&self.text())
    }

    /// SHA-256 of the compact form: `canonical_sha256` of the gold.
    pub fn canonical_hash(&self) -> String {
        sha256(&write(&self.0, Style::Compact))
    }
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

type Object = Map<String, Value>;

fn products(tx: &Tx<'_>) -> Result<Object, SqlError> {
    #[derive(Deserialize)]
    struct Variant {
        product_id: String,
        item_id: String,
        options: Json<Value>,
        available: bool,
        price: f64,
    }
    let names: Vec<(String, String)> = tx.rows("SELECT product_id, name FROM products", &[])?;
    let mut products: Object = names
        .into_iter()
        .map(|(id, name)| {
            let product = json!({"name": name, "product_id": id, "variants": {}});
            (id, product)
        })
        .collect();
    let variants: Vec<Variant> = tx.rows(
        "SELECT product_id, item_id, options, available, price FROM variants",
        &[],
    )?;
    for it in variants {
        let variant = json!({
            "item_id": it.item_id, "options": it.options.0,
            "available": it.available, "price": it.price,
        });
        entity(&mut products, &it.product_id)?["variants"][it.item_id] = variant;
    }
    Ok(products)
}

fn users(tx: &Tx<'_>) -> Result<Object, SqlError> {
    #[derive(Deserialize)]
    struct User {
        user_id: String,
        first_name: String,
        last_name: String,
        #[serde(flatten)]
        address: Address,
        email: String,
        orders: Json<Value>,
    }
    #[derive(Deserialize)]
    struct Method {
        user_id: String,
        id: String,
        source: String,
        brand: Option<String>,
        last_four: Option<String>,
        balance: Option<f64>,
    }
    let users: Vec<User> = tx.rows(
        "SELECT user_id, first_name, last_name, address1, address2, city, country, state, zip, \
            email, orders FROM users",
        &[],
    )?;
    let mut users: Object = users
        .into_iter()
        .map(|it| {
            let user = json!({
                "user_id": it.user_id,
                "name": {"first_name": it.first_name, "last_name": it.last_name},
                "address": it.address.value(), "email": it.email,
                "payment_methods": {}, "orders": it.orders.0,
            });
            (it.user_id, user)
        })
        .collect();
    let methods: Vec<Method> = tx.rows(
        "SELECT user_id, id, source, brand, last_four, balance FROM payment_methods",
        &[],
    )?;
    for it in methods {
        let mut method = json!({"source": it.source, "id": it.id});
        match it.source.as_str() {
            "credit_card" => {
                method["brand"] = json!(it.brand);
                method["last_four"] = json!(it.last_four);
            }
            "gift_card" => method["balance"] = json!(it.balance),
            _ => {}
        }
        entity(&mut users, &it.user_id)?["payment_methods"][it.id] = method;
    }
    Ok(users)
}

fn orders(tx: &Tx<'_>) -> Result<Object, SqlError> {
    #[derive(Deserialize)]
    struct Order {
        order_id: String,
        user_id: String,
        #[serde(flatten)]
        address: Address,
        status: String,
        fulfillments: Json<Value>,
        cancel_reason: Option<String>,
        exchange_items: Option<Json<Value>>,
        exchange_new_items: Option<Json<Value>>,
        exchange_payment_method_id: Option<String>,
        exchange_price_difference: Option<f64>,
        return_items: Option<Json<Value>>,
        return_payment_method_id: Option<String>,
    }
    #[derive(Deserialize)]
    struct Item {
        order_id: String,
        name: String,
        product_id: String,
        item_id: String,
        price: f64,
        options: Json<Value>,
    }
    #[derive(Deserialize)]
    struct Payment {
        order_id: String,
        transaction_type: String,
        amount: f64,
        payment_method_id: String,
    }
    let orders: Vec<Order> = tx.rows(
        "SELECT order_id, user_id, address1, address2, city, country, state, zip, status, \
            fulfillments, cancel_reason, exchange_items, exchange_new_items, \
            exchange_payment_method_id, exchange_price_difference, return_items, \
            return_payment_method_id FROM orders",
        &[],
    )?;
    let mut orders: Object = orders
        .into_iter()
        .map(|it| {
            let order = json!({
                "order_id": it.order_id, "user_id": it.user_id, "address": it.address.value(),
                "items": [], "status": it.status, "fulfillments": it.fulfillments.0,
                "payment_history": [], "cancel_reason": it.cancel_reason,
                "exchange_items": it.exchange_items, "exchange_new_items": it.exchange_new_items,
                "exchange_payment_method_id": it.exchange_payment_method_id,
                "exchange_price_difference": it.exchange_price_difference,
                "return_items": it.return_items,
                "return_payment_method_id": it.return_payment_method_id,
            });
            (it.order_id, order)
        })
        .collect();
    let items: Vec<Item> = tx.rows(
        "SELECT order_id, name, product_id, item_id, price, options FROM order_items \
            ORDER BY order_id, position",
        &[],
    )?;
    for it in items {
        let item = json!({
            "name": it.name, "product_id": it.product_id, "item_id": it.item_id,
            "price": it.price, "options": it.options.0,
        });
        append(entity(&mut orders, &it.order_id)?, "items", item);
    }
    let payments: Vec<Payment> = tx.rows(
        "SELECT order_id, transaction_type, amount, payment_method_id FROM payments \
            ORDER BY order_id, position",
        &[],
    )?;
    for it in payments {
        let payment = json!({
            "transaction_type": it.transaction_type, "amount": it.amount,
            "payment_method_id": it.payment_method_id,
        });
        append(
            entity(&mut orders, &it.order_id)?,
            "payment_history",
            payment,
        );
    }
    Ok(orders)
}

#[derive(Deserialize)]
struct Address {
    address1: String,
    address2: String,
    city: String,
    country: String,
    state: String,
    zip: String,
}

impl Address {
    fn value(&self) -> Value {
        json!({
            "address1": self.address1, "address2": self.address2, "city": self.city,
            "country": self.country, "state": self.state, "zip": self.zip,
        })
    }
}

fn entity<'o>(entities: &'o mut Object, id: &str) -> Result<&'o mut Value, SqlError> {
    let found = entities.get_mut(id);
    found.ok_or_else(|| SqlError::Failed(format!("a row belongs to {id:?}, which is not there")))
}

fn append(entity: &mut Value, list: &str, value: Value) {
    if let Value::Array(list) = &mut entity[list] {
        list.push(value);
    }
}
