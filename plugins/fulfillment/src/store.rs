//! The order's rows: every statement that the plugin runs.

use serde::Deserialize;
use wharf_plugin::{SqlError, Tx, params};

use crate::operation::Operation;
use crate::perform::Facts;
use crate::record::Record;
use crate::snapshot::{Carrier, Snapshot, State};

/// All that the tables say about the order.
pub(crate) fn read(tx: &Tx<'_>, order_id: &str) -> Result<Facts, SqlError> {
    const ORDER: &str = "SELECT state, quantity, carrier, cost FROM orders WHERE order_id = ?1";
    const STOCK: &str = "SELECT stock FROM inventory ORDER BY sku LIMIT 1";
    const RATE: &str = "SELECT cents FROM rates WHERE carrier = ?1";

    let order: Option<Order> = tx.optional(ORDER, params![order_id])?;
    let rate = |carrier: Carrier| tx.optional(RATE, params![carrier.to_string()]);
    Ok(Facts {
        snapshot: Snapshot {
            state: order.as_ref().map_or(State::New, |order| order.state),
            stock: tx.optional(STOCK, params![])?.unwrap_or(0),
            standard: rate(Carrier::Standard)?,
            economy: rate(Carrier::Economy)?,
            carrier: order.as_ref().and_then(|order| order.carrier),
            cost: order.as_ref().and_then(|order| order.cost),
        },
        quantity: order.map(|order| order.quantity),
    })
}

/// Makes the tables say what the record says.
pub(crate) fn write(tx: &Tx<'_>, operation: Operation, record: &Record) -> Result<(), SqlError> {
    match operation {
        Operation::Reserve => {
            take_stock(tx, record.quantity)?;
            save_order(tx, record)
        }
        Operation::Pack | Operation::Ship => save_order(tx, record),
        Operation::Receipt => Ok(()),
    }
}

fn take_stock(tx: &Tx<'_>, quantity: i64) -> Result<(), SqlError> {
    const SQL: &str = "UPDATE inventory SET stock = stock - ?1 \
        WHERE sku = (SELECT sku FROM inventory ORDER BY sku LIMIT 1)";
    tx.change_one(SQL, params![quantity])
}

fn save_order(tx: &Tx<'_>, record: &Record) -> Result<(), SqlError> {
    const SQL: &str = "INSERT INTO orders (order_id, state, quantity, carrier, cost) \
        VALUES (?1, ?2, ?3, ?4, ?5) \
        ON CONFLICT (order_id) DO UPDATE \
        SET state = excluded.state, carrier = excluded.carrier, cost = excluded.cost";
    let Record {
        state,
        order_id,
        quantity,
        shipment,
    } = record;
    let carrier = shipment
        .as_ref()
        .map(|shipment| shipment.carrier.to_string());
    let cost = shipment.as_ref().map(|shipment| shipment.cost);
    tx.change_one(SQL, params![order_id, state, *quantity, carrier, cost])
}

#[derive(Deserialize)]
struct Order {
    state: State,
    quantity: i64,
    carrier: Option<Carrier>,
    cost: Option<i64>,
}
