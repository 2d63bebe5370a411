//! `modify_pending_order_payment`

use super::{credit, ensure_balance};
use crate::arguments::Arguments;
use crate::entity::{Order, Payment, TransactionType};
use crate::refusal::{Stop, ensure, refused};
use crate::store::Store;

/// Pays by another method and refunds the first.
pub fn modify_payment(order: &Order, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    ensure(
        order.status.is_any_pending(),
        "order-not-pending",
        "Non-pending order cannot be modified",
    )?;
    let new_id = arguments.text("payment_method_id");
    let new = store.payment_method(&order.user_id, new_id)?;
    let [paid] = order.payment_history.as_slice() else {
        return Err(not_one_payment());
    };
    if paid.transaction_type != TransactionType::Payment {
        return Err(not_one_payment());
    }
    ensure(
        paid.payment_method_id != new_id,
        "same-payment-method",
        "The new payment method should be different from the current one",
    )?;
    ensure_balance(&new, paid.amount, "the order")?;

    let payment = Payment {
        payment_method_id: new_id.to_owned(),
        ..paid.clone()
    };
    let refund = Payment {
        transaction_type: TransactionType::Refund,
        ..paid.clone()
    };
    store.add_payment(&order.order_id, &payment)?;
    store.add_payment(&order.order_id, &refund)?;
    credit(store, &order.user_id, &new, -paid.amount)?;
    let old = store.payment_method(&order.user_id, &paid.payment_method_id)?;
    Ok(credit(store, &order.user_id, &old, paid.amount)?)
}

fn not_one_payment() -> Stop {
    refused(
        "not-one-payment",
        "There should be exactly one payment for a pending order",
    )
}
