//! `return_delivered_order_items`

use super::{not_covered, sorted};
use crate::arguments::Arguments;
use crate::entity::{Order, Status};
use crate::refusal::{Stop, ensure};
use crate::store::Store;

/// Notes what comes back and how it is to be refunded; no money moves yet.
pub fn return_items(order: &Order, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    ensure(
        order.status == Status::Delivered,
        "order-not-delivered",
        "Non-delivered order cannot be returned",
    )?;
    let payment_method_id = arguments.text("payment_method_id");
    let method = store.payment_method(&order.user_id, payment_method_id)?;
    let original = order.payment_history.first();
    ensure(
        method.balance().is_some()
            || original.is_some_and(|paid| paid.payment_method_id == payment_method_id),
        "not-the-original-payment-method",
        "Payment method should be the original payment method",
    )?;
    let item_ids = arguments.list("item_ids");
    ensure(
        not_covered(order, item_ids).is_none(),
        "item-not-in-order",
        "Some item not found",
    )?;

    store.set_status(&order.order_id, Status::ReturnRequested)?;
    Ok(store.set_return(&order.order_id, sorted(item_ids), payment_method_id)?)
}
