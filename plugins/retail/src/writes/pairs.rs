//! Old and new items of an exchange or a modification, pair by pair.

use super::not_covered;
use crate::arguments::Arguments;
use crate::entity::{Order, Variant};
use crate::refusal::{Stop, ensure, refused};
use crate::store::Store;

/// What the two operations say differently.
pub(super) struct Rules {
    /// An item that the order does not hold often enough.
    pub(super) not_held: fn(&str) -> String,
    /// Lists of different length.
    pub(super) lengths: &'static str,
    /// A pair of one id, where that is refused.
    pub(super) same: Option<&'static str>,
}

/// The new variants in the order of the pairs, and what they cost more than the old items: the binary
/// sum, not rounded.
pub(super) struct Priced {
    pub(super) variants: Vec<Variant>,
    pub(super) difference: f64,
}

pub(super) fn price(
    order: &Order,
    arguments: &Arguments,
    store: &Store<'_>,
    rules: &Rules,
) -> Result<Priced, Stop> {
    let old_ids = arguments.list("item_ids");
    let new_ids = arguments.list("new_item_ids");
    if let Some(id) = not_covered(order, old_ids) {
        return Err(refused("item-not-in-order", (rules.not_held)(id)));
    }
    ensure(
        old_ids.len() == new_ids.len(),
        "length-mismatch",
        rules.lengths,
    )?;

    let mut priced = Priced {
        variants: Vec::with_capacity(new_ids.len()),
        difference: 0.0,
    };
    for (old_id, new_id) in old_ids.iter().zip(new_ids) {
        if let Some(message) = rules.same {
            ensure(old_id != new_id, "same-item", message)?;
        }
        let item = order.items.iter().find(|item| item.item_id == *old_id);
        let item = item.expect("the order holds what is covered");
        let variant = store
            .product(&item.product_id)?
            .variants
            .remove(new_id)
            .ok_or_else(|| refused("variant-not-found", "Variant not found"))?;
        ensure(
            variant.available,
            "item-not-available",
            &format!("New item {new_id} not found or available"),
        )?;
        priced.difference += variant.price - item.price;
        priced.variants.push(variant);
    }
    Ok(priced)
}
