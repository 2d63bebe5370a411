//! `cancel_pending_order`

use super::credit;
use crate::arguments::Arguments;
use crate::entity::{Order, Payment, Status, TransactionType};
use crate::refusal::{Stop, ensure};
use crate::store::Store;

/// Refunds every entry of the payment history, earlier refunds included: a quirk of the benchmark,
/// which shows after the payment method was changed.
pub fn cancel(order: &Order, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    ensure(
        order.status == Status::Pending,
        "order-not-pending",
        "Non-pending order cannot be cancelled",
    )?;
    let reason = arguments.text("reason");
    ensure(
        matches!(reason, "no longer needed" | "ordered by mistake"),
        "invalid-reason",
        "Invalid reason",
    )?;
    for paid in &order.payment_history {
        let method = store.payment_method(&order.user_id, &paid.payment_method_id)?;
        credit(store, &order.user_id, &method, paid.amount)?;
    }
    store.set_status(&order.order_id, Status::Cancelled)?;
    store.set_cancel_reason(&order.order_id, reason)?;
    for paid in &order.payment_history {
        let refund = Payment {
            transaction_type: TransactionType::Refund,
            ..paid.clone()
        };
        store.add_payment(&order.order_id, &refund)?;
    }
    Ok(())
}
