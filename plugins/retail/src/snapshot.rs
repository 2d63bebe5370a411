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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wharf_plugin::testing::task as task_of;

    use crate::fixture::{address, answer, shop, task};

    fn snapshot(input: &Value) -> Value {
        let snapshot = shop().snapshot(&task_of("t", &input.to_string()));
        serde_json::from_str(&snapshot.expect("a snapshot")).expect("JSON")
    }

    #[test]
    fn it_holds_the_customers_orders_and_the_products_in_them_and_nothing_else() {
        let snapshot = snapshot(&json!({"userId": "mei"}));
        assert_eq!(snapshot["customer"]["user_id"], "mei");
        let ids = |list: &str, id: &str| -> Vec<Value> {
            let list = snapshot[list].as_array().expect("a list");
            list.iter().map(|entity| entity[id].clone()).collect()
        };
        assert_eq!(ids("orders", "order_id"), ["#W1", "#W2"]);
        assert_eq!(ids("products", "product_id"), ["10", "20"]);
        assert_eq!(snapshot["operations"], json!([]));
    }

    #[test]
    fn without_a_known_customer_it_is_empty() {
        let nothing = json!({"customer": null, "orders": [], "products": [], "operations": []});
        assert_eq!(snapshot(&json!({})), nothing);
        assert_eq!(snapshot(&json!({"userId": "nobody"})), nothing);
    }

    #[test]
    fn it_says_what_this_task_has_carried_out() {
        let host = shop();
        answer(
            &host,
            "modify_user_address",
            address(json!({"user_id": "mei"})),
        );
        let operations = |task| {
            let snapshot = host.snapshot(&task).expect("a snapshot");
            serde_json::from_str::<Value>(&snapshot).expect("JSON")["operations"].clone()
        };
        assert_eq!(operations(task())[0]["tool"], "modify_user_address");
        assert_eq!(operations(task_of("another", "{}")), json!([]));
    }
}
