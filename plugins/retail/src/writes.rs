//! The seven tools that change something. Each checks in the benchmark's order, and what it writes is
//! rolled back if a later check refuses.

mod cancel;
mod exchange;
mod modify_items;
mod modify_payment;
mod pairs;
mod refund;
#[cfg(test)]
mod tests;

use wharf_plugin::SqlError;

use crate::arguments::Arguments;
use crate::entity::{Address, Order, PaymentMethod, User};
use crate::money::round2;
use crate::refusal::{Stop, ensure};
use crate::store::Store;

pub use cancel::cancel;
pub use exchange::exchange;
pub use modify_items::modify_items;
pub use modify_payment::modify_payment;
pub use refund::return_items;

/// `modify_pending_order_address`
pub fn order_address(order: &Order, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    ensure(
        order.status.is_any_pending(),
        "order-not-pending",
        "Non-pending order cannot be modified",
    )?;
    Ok(store.set_order_address(&order.order_id, &address(arguments))?)
}

/// `modify_user_address`
pub fn user_address(user: &User, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    Ok(store.set_user_address(&user.user_id, &address(arguments))?)
}

fn address(arguments: &Arguments) -> Address {
    let text = |name| arguments.text(name).to_owned();
    Address {
        address1: text("address1"),
        address2: text("address2"),
        city: text("city"),
        country: text("country"),
        state: text("state"),
        zip: text("zip"),
    }
}

/// Adds to what is left on a gift card, or takes from it; no other method has a balance.
fn credit(
    store: &Store<'_>,
    user_id: &str,
    method: &PaymentMethod,
    amount: f64,
) -> Result<(), SqlError> {
    match method {
        PaymentMethod::GiftCard { id, balance } => {
            store.set_balance(user_id, id, round2(balance + amount))
        }
        PaymentMethod::CreditCard { .. } | PaymentMethod::Paypal { .. } => Ok(()),
    }
}

/// A gift card pays no more than what is left on it.
fn ensure_balance(method: &PaymentMethod, amount: f64, purpose: &str) -> Result<(), Stop> {
    ensure(
        method.balance().is_none_or(|balance| balance >= amount),
        "insufficient-balance",
        &format!("Insufficient gift card balance to pay for {purpose}"),
    )
}

/// The first id that is listed more often than the order holds it.
fn not_covered<'i>(order: &Order, item_ids: &'i [String]) -> Option<&'i String> {
    item_ids.iter().find(|id| {
        let listed = item_ids.iter().filter(|other| other == id).count();
        let held = order
            .items
            .iter()
            .filter(|item| item.item_id == **id)
            .count();
        listed > held
    })
}

fn sorted(item_ids: &[String]) -> Vec<String> {
    let mut sorted = item_ids.to_vec();
    sorted.sort();
    sorted
}
