//! The slice of the shop that a task's plan is made from: one customer's.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use wharf_plugin::{SqlError, Tx};

use crate::entity::{Order, Product, User};
use crate::input::Input;
use crate::store::Store;

/// Everything that concerns the customer, and nothing else of the shop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// None: the task names nobody, or somebody unknown.
    pub customer: Option<User>,
    /// The customer's, by id.
    pub orders: Vec<Order>,
    /// Those in the orders, by id, with all variants.
    pub products: Vec<Product>,
    /// What this task has carried out.
    pub operations: Vec<Committed>,
}

/// An operation that was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Committed {
    /// See [`operation::key`](crate::operation::key).
    pub operation_key: String,
    /// The tool.
    pub tool: String,
    /// False: everything was already as it was asked for.
    pub changed: bool,
}

impl Snapshot {
    /// Reads it.
    pub fn read(task_id: &str, input: &Input, tx: &Tx<'_>) -> Result<Self, SqlError> {
        let store = Store::over(tx);
        let customer = match &input.user_id {
            Some(user_id) => store.find_user(user_id)?,
            None => None,
        };
        let orders = match &customer {
            Some(customer) => store.orders_of(&customer.user_id)?,
            None => Vec::new(),
        };
        let items = orders.iter().flat_map(|order| &order.items);
        let product_ids: BTreeSet<_> = items.map(|item| &item.product_id).collect();
        let mut products = Vec::with_capacity(product_ids.len());
        for product_id in product_ids {
            products.extend(store.find_product(product_id)?);
        }
        Ok(Self {
            customer,
            orders,
            products,
            operations: store.operations_of(task_id)?,
        })
    }
}
