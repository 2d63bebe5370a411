//! Whether the request is fulfilled, and what the report may claim.

use serde::{Deserialize, Serialize};
use wharf_plugin::{Completed, Violation};

use crate::input::Input;
use crate::operation::Operation;
use crate::snapshot::{Carrier, Snapshot, State};
use crate::tool::Tool;

/// What the report says of a fulfilled request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    /// What was shipped.
    pub receipt: Receipt,
    /// The receipt's record, byte for byte as it was committed.
    pub record: String,
}

/// The record of a read receipt. Without its `state` it is the task's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Receipt {
    #[serde(skip_serializing)]
    state: String,
    order_id: String,
    quantity: i64,
    carrier: Carrier,
    cost: i64,
    tracking: String,
}

impl Receipt {
    /// One line for people.
    pub fn summary(&self) -> String {
        let Self {
            order_id,
            quantity,
            carrier,
            cost,
            tracking,
            ..
        } = self;
        format!("{order_id}: {quantity} shipped by {carrier} for {cost} cents, {tracking}")
    }
}

/// Compares the receipt with the request and with the order's final state; lists all that differs.
pub fn conclude(
    input: &Input,
    snapshot: &Snapshot,
    completed: &[Completed],
) -> Result<Conclusion, Vec<Violation>> {
    let is_receipt = |done: &&Completed| done.step.tool == Tool::ReadReceipt.name();
    let Some(Completed { data, .. }) = completed.iter().find(is_receipt) else {
        let message = "no completed step read the receipt";
        return Err(vec![Violation::new("no-receipt", message)]);
    };
    let receipt: Receipt = serde_json::from_str(data).map_err(|error| {
        let message = format!("the receipt is not one of this plugin: {error}");
        vec![Violation::new("unreadable-receipt", message)]
    })?;
    let faults = [
        request_faults(input, &receipt),
        order_faults(snapshot, &receipt),
    ]
    .concat();
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Conclusion {
        receipt,
        record: data.clone(),
    })
}

fn request_faults(input: &Input, receipt: &Receipt) -> Vec<Violation> {
    let mut faults = Vec::new();
    if receipt.state != Operation::Receipt.postcondition() {
        faults.push(Violation::new("wrong-state", "the record is not a receipt"));
    }
    if receipt.order_id != input.order_id {
        let message = "the receipt is for another order";
        faults.push(Violation::new("wrong-order-id", message));
    }
    if receipt.quantity != input.quantity {
        let message = "the receipt is for another quantity";
        faults.push(Violation::new("wrong-quantity", message));
    }
    if receipt.cost > input.max_shipping_cents {
        let message = "the shipment cost more than the request allows";
        faults.push(Violation::new("over-budget", message));
    }
    faults
}

fn order_faults(snapshot: &Snapshot, receipt: &Receipt) -> Vec<Violation> {
    if snapshot.state != State::Shipped {
        let message = format!("the order is {}, not shipped", snapshot.state);
        return vec![Violation::new("not-shipped", message)];
    }
    let mut faults = Vec::new();
    if snapshot.carrier != Some(receipt.carrier) {
        let message = "the order went with another carrier than the receipt says";
        faults.push(Violation::new("wrong-carrier", message));
    }
    if snapshot.cost != Some(receipt.cost) {
        let message = "the order's shipment cost something else than the receipt says";
        faults.push(Violation::new("wrong-cost", message));
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wharf_plugin::testing::step;

    use super::*;
    use crate::fixture::{codes, input, snapshot};

    fn receipt() -> Value {
        json!({
            "state": "receipt", "orderId": "ORDER-1001", "quantity": 2,
            "carrier": "standard", "cost": 300, "tracking": "TRK-1",
        })
    }

    fn completed(tool: &str, data: &Value) -> Completed {
        Completed {
            step: step("s1", tool, "", None),
            operation_key: None,
            declined: false,
            data: data.to_string(),
        }
    }

    fn refusals(receipt: &Value, snapshot: &Snapshot) -> Vec<String> {
        let completed = [completed("read_receipt", receipt)];
        codes(&conclude(&input(), snapshot, &completed).expect_err("a refused conclusion"))
    }

    #[test]
    fn a_receipt_that_fits_the_request_and_the_order_is_the_result() {
        let shipment = json!({"state": "shipped"});
        let completed = [
            completed("ship_standard", &shipment),
            completed("read_receipt", &receipt()),
        ];
        let conclusion =
            conclude(&input(), &snapshot(State::Shipped), &completed).expect("a fulfilled request");
        assert_eq!(
            json!(conclusion.receipt),
            json!({
                "orderId": "ORDER-1001", "quantity": 2,
                "carrier": "standard", "cost": 300, "tracking": "TRK-1",
            })
        );
        assert_eq!(
            conclusion.receipt.summary(),
            "ORDER-1001: 2 shipped by standard for 300 cents, TRK-1"
        );
        assert_eq!(conclusion.record, receipt().to_string());
    }

    #[test]
    fn without_a_receipt_nothing_is_concluded() {
        let shipment = [completed("ship_standard", &receipt())];
        let refused =
            conclude(&input(), &snapshot(State::Shipped), &shipment).expect_err("no receipt");
        assert_eq!(codes(&refused), ["no-receipt"]);
    }

    #[test]
    fn a_receipt_without_a_shipment_is_unreadable() {
        let mut receipt = receipt();
        receipt["tracking"].take();
        assert_eq!(
            refusals(&receipt, &snapshot(State::Shipped)),
            ["unreadable-receipt"]
        );
        assert_eq!(
            refusals(&json!([]), &snapshot(State::Shipped)),
            ["unreadable-receipt"]
        );
    }

    #[test]
    fn a_receipt_that_differs_from_the_request_is_refused_field_by_field() {
        for (field, value, code) in [
            ("state", json!("shipped"), "wrong-state"),
            ("orderId", json!("ORDER-1002"), "wrong-order-id"),
            ("quantity", json!(3), "wrong-quantity"),
        ] {
            let mut receipt = receipt();
            receipt[field] = value;
            assert_eq!(refusals(&receipt, &snapshot(State::Shipped)), [code]);
        }
    }

    #[test]
    fn a_shipment_exactly_at_the_limit_is_within_budget() {
        let mut receipt = receipt();
        receipt["cost"] = json!(500);
        let mut world = snapshot(State::Shipped);
        world.cost = Some(500);
        let completed = [completed("read_receipt", &receipt)];
        assert!(conclude(&input(), &world, &completed).is_ok());
    }

    #[test]
    fn a_shipment_over_budget_is_refused_even_if_the_order_agrees() {
        let mut receipt = receipt();
        receipt["cost"] = json!(501);
        let mut world = snapshot(State::Shipped);
        world.cost = Some(501);
        assert_eq!(refusals(&receipt, &world), ["over-budget"]);
    }

    #[test]
    fn a_receipt_that_differs_from_the_order_is_refused() {
        let mut world = snapshot(State::Shipped);
        world.carrier = Some(Carrier::Economy);
        world.cost = Some(400);
        assert_eq!(
            refusals(&receipt(), &world),
            ["wrong-carrier", "wrong-cost"]
        );
    }

    #[test]
    fn an_order_that_is_not_shipped_is_one_fault() {
        assert_eq!(
            refusals(&receipt(), &snapshot(State::Packed)),
            ["not-shipped"]
        );
    }
}
