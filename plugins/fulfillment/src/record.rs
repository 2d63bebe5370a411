//! What a committed operation leaves behind, as JSON in the host's ledger.

use serde::Serialize;

use crate::snapshot::Carrier;

/// The record of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The operation's postcondition.
    pub state: String,
    /// The order.
    pub order_id: String,
    /// Pieces.
    pub quantity: i64,
    /// In the records of the shipment and of its receipt.
    #[serde(flatten)]
    pub shipment: Option<Shipment>,
}

/// What is known once a carrier has the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shipment {
    /// Who ships.
    pub carrier: Carrier,
    /// The rate that was paid, in cents.
    pub cost: i64,
    /// See [`tracking::number`](crate::tracking::number).
    pub tracking: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_before_shipment_holds_state_order_and_quantity() {
        let record = Record {
            state: "packed".to_owned(),
            order_id: "ORDER-1001".to_owned(),
            quantity: 2,
            shipment: None,
        };
        assert_eq!(
            json!(record),
            json!({"state": "packed", "orderId": "ORDER-1001", "quantity": 2})
        );
    }

    #[test]
    fn a_shipment_record_also_holds_carrier_cost_and_tracking() {
        let record = Record {
            state: "shipped".to_owned(),
            order_id: "ORDER-1001".to_owned(),
            quantity: 2,
            shipment: Some(Shipment {
                carrier: Carrier::Economy,
                cost: 400,
                tracking: "TRK-1".to_owned(),
            }),
        };
        assert_eq!(
            json!(record),
            json!({
                "state": "shipped", "orderId": "ORDER-1001", "quantity": 2,
                "carrier": "economy", "cost": 400, "tracking": "TRK-1",
            })
        );
    }
}
