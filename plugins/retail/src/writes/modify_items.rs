//! `modify_pending_order_items`

use super::pairs::{self, Rules};
use super::{credit, ensure_balance};
use crate::arguments::Arguments;
use crate::entity::{Order, Payment, Status, TransactionType};
use crate::refusal::{Stop, ensure};
use crate::store::Store;

const RULES: Rules = Rules {
    not_held: |id| format!("{id} not found"),
    lengths: "The number of items to be exchanged should match",
    same: Some("The new item id should be different from the old item id"),
};

/// Puts new variants in the place of old ones and settles the difference, which is not rounded.
///
/// Every changed item gets the price and the options of the last pair's variant, whatever its own: a
/// quirk of the benchmark.
pub fn modify_items(order: &Order, arguments: &Arguments, store: &Store<'_>) -> Result<(), Stop> {
    ensure(
        order.status == Status::Pending,
        "order-not-pending",
        "Non-pending order cannot be modified",
    )?;
    let priced = pairs::price(order, arguments, store, &RULES)?;
    let difference = priced.difference;
    let payment_method_id = arguments.text("payment_method_id");
    let method = store.payment_method(&order.user_id, payment_method_id)?;
    ensure_balance(&method, difference, "the new item")?;

    let payment = Payment {
        transaction_type: if difference > 0.0 {
            TransactionType::Payment
        } else {
            TransactionType::Refund
        },
        amount: difference.abs(),
        payment_method_id: payment_method_id.to_owned(),
    };
    store.add_payment(&order.order_id, &payment)?;
    credit(store, &order.user_id, &method, -difference)?;

    let last = priced.variants.last();
    let mut items = order.items.clone();
    for (old_id, new_id) in arguments
        .list("item_ids")
        .iter()
        .zip(arguments.list("new_item_ids"))
    {
        let position = items.iter().position(|item| item.item_id == *old_id);
        // A pair takes one of its old items away and adds one of its new ones, so enough are left.
        let position = position.expect("the order holds what is covered");
        let item = &mut items[position];
        item.item_id.clone_from(new_id);
        if let Some(last) = last {
            item.price = last.price;
            item.options.clone_from(&last.options);
        }
        store.set_item(&order.order_id, position, item)?;
    }
    Ok(store.set_status(&order.order_id, Status::PendingItemModified)?)
}
