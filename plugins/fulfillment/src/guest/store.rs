//! The order's rows: every statement that the plugin runs.

use serde::Deserialize;

use super::bindings::exports::wharf::domain::tools::Failure;
use super::bindings::wharf::domain::business::{Transaction, Value};
use super::sql::{change_one, rows};
use crate::operation::Operation;
use crate::perform::Facts;
use crate::record::Record;
use crate::snapshot::{Carrier, Snapshot, State};

/// All that the tables say about the order.
pub(super) fn read(tx: &Transaction, order_id: &str) -> Result<Facts, Failure> {
    const ORDER: &str = "SELECT state, quantity, carrier, cost FROM orders WHERE order_id = ?1";
    const ARTICLE: &str = "SELECT stock FROM inventory ORDER BY sku LIMIT 1";
    const RATES: &str = "SELECT carrier, cents FROM rates WHERE carrier IN ('standard', 'economy')";

    let order: Option<Order> = rows(tx, ORDER, &[text(order_id)])?.pop();
    let article: Option<Article> = rows(tx, ARTICLE, &[])?.pop();
    let rates: Vec<Rate> = rows(tx, RATES, &[])?;
    let rate = |carrier| {
        rates
            .iter()
            .find(|rate| rate.carrier == carrier)
            .map(|rate| rate.cents)
    };

    Ok(Facts {
        snapshot: Snapshot {
            state: order.as_ref().map_or(State::New, |order| order.state),
            stock: article.map_or(0, |article| article.stock),
            standard: rate(Carrier::Standard),
            economy: rate(Carrier::Economy),
            carrier: order.as_ref().and_then(|order| order.carrier),
            cost: order.as_ref().and_then(|order| order.cost),
        },
        quantity: order.map(|order| order.quantity),
    })
}

/// Makes the tables say what the record says.
pub(super) fn write(
    tx: &Transaction,
    operation: Operation,
    record: &Record,
) -> Result<(), Failure> {
    match operation {
        Operation::Reserve => {
            take_stock(tx, record.quantity)?;
            save_order(tx, record)
        }
        Operation::Pack | Operation::Ship => save_order(tx, record),
        Operation::Receipt => Ok(()),
    }
}

fn take_stock(tx: &Transaction, quantity: i64) -> Result<(), Failure> {
    const SQL: &str = "UPDATE inventory SET stock = stock - ?1 \
        WHERE sku = (SELECT sku FROM inventory ORDER BY sku LIMIT 1)";
    change_one(tx, SQL, &[Value::Integer(quantity)])
}

fn save_order(tx: &Transaction, record: &Record) -> Result<(), Failure> {
    const SQL: &str = "INSERT INTO orders (order_id, state, quantity, carrier, cost) \
        VALUES (?1, ?2, ?3, ?4, ?5) \
        ON CONFLICT (order_id) DO UPDATE \
        SET state = excluded.state, carrier = excluded.carrier, cost = excluded.cost";
    let shipment = record.shipment.as_ref();
    let params = [
        text(&record.order_id),
        text(&record.state),
        Value::Integer(record.quantity),
        shipment.map_or(Value::Null, |shipment| text(&shipment.carrier.to_string())),
        shipment.map_or(Value::Null, |shipment| Value::Integer(shipment.cost)),
    ];
    change_one(tx, SQL, &params)
}

#[derive(Deserialize)]
struct Order {
    state: State,
    quantity: i64,
    carrier: Option<Carrier>,
    cost: Option<i64>,
}

#[derive(Deserialize)]
struct Article {
    stock: i64,
}

#[derive(Deserialize)]
struct Rate {
    carrier: Carrier,
    cents: i64,
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
