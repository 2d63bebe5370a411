//! `exchange_delivered_order_items`

use super::pairs::{self, Rules};
use super::{ensure_balance, sorted};
use crate::arguments::Arguments;
use crate::entity::{Order, Status};
use crate::money::round2;
use crate::refusal::{Stop, ensure};
use crate::store::{Exchange, Store};

const RULES: Rules = Rules {
    not_held: |id| format!("Number of {id} not found."),
    lengths: "The number of items to be exchanged should match.",
    same: None,
};

/// Notes what is to be exchanged for what; neither items nor money move yet.
pub fn exchange(order: &Order, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    ensure(
        order.status == Status::Delivered,
        "order-not-delivered",
        "Non-delivered order cannot be exchanged",
    )?;
    let priced = pairs::price(order, arguments, store, &RULES)?;
    let price_difference = round2(priced.difference);
    let payment_method_id = arguments.text("payment_method_id");
    let method = store.payment_method(&order.user_id, payment_method_id)?;
    ensure_balance(&method, price_difference, "the price difference")?;

    store.set_status(&order.order_id, Status::ExchangeRequested)?;
    let exchange = Exchange {
        items: sorted(arguments.list("item_ids")),
        new_items: sorted(arguments.list("new_item_ids")),
        payment_method_id,
        price_difference,
    };
    Ok(store.set_exchange(&order.order_id, exchange)?)
}
