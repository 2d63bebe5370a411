//! The tools that change nothing. Each answers what the benchmark's does, as JSON.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use wharf_plugin::json;

use crate::arguments::Arguments;
use crate::calculator;
use crate::store::Store;
use crate::tool::Found;

/// `find_user_id_by_name_zip`
pub fn user_by_name(arguments: &Arguments, store: &Store<'_>) -> Found {
    let first = arguments.text("first_name");
    let last = arguments.text("last_name");
    Ok(json(&store.user_named(
        first,
        last,
        arguments.text("zip"),
    )?))
}

/// `find_user_id_by_email`
pub fn user_by_email(arguments: &Arguments, store: &Store<'_>) -> Found {
    Ok(json(&store.user_with_email(arguments.text("email"))?))
}

/// `get_user_details`
pub fn user(arguments: &Arguments, store: &Store<'_>) -> Found {
    Ok(json(&store.user(arguments.text("user_id"))?))
}

/// `get_order_details`
pub fn order(arguments: &Arguments, store: &Store<'_>) -> Found {
    Ok(json(&store.order(arguments.text("order_id"))?))
}

/// `get_product_details`
pub fn product(arguments: &Arguments, store: &Store<'_>) -> Found {
    Ok(json(&store.product(arguments.text("product_id"))?))
}

/// `get_item_details`
pub fn item(arguments: &Arguments, store: &Store<'_>) -> Found {
    Ok(json(&store.item(arguments.text("item_id"))?))
}

/// `list_all_product_types`: product names and ids.
pub fn products(_: &Arguments, store: &Store<'_>) -> Found {
    let names: BTreeMap<_, _> = store.product_names()?.into_iter().collect();
    Ok(json(&names))
}

/// `calculate`
pub fn calculate(arguments: &Arguments, _: &Store<'_>) -> Found {
    Ok(json(&calculator::calculate(arguments.text("expression"))?))
}

/// `transfer_to_human_agents`
pub fn transfer(_: &Arguments, _: &Store<'_>) -> Found {
    Ok(json("Transfer successful"))
}
