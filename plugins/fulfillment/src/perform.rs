//! Whether a step may happen now, and the record that it leaves.
//!
//! A plan was checked against a snapshot; the world may have moved since. So each step is decided
//! again here, from what its own transaction reads, before anything is written.

use wharf_plugin::Failure;

use crate::input::Input;
use crate::record::{Record, Shipment};
use crate::snapshot::{Carrier, Snapshot};
use crate::tool::Tool;
use crate::tracking;

/// What the business tables say about one order, read in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The part that plans are made from.
    pub snapshot: Snapshot,
    /// The quantity that the order was begun with. None: it has no row yet.
    pub quantity: Option<i64>,
}

/// The record that the step leaves if its preconditions hold.
pub fn decide(tool: Tool, task_id: &str, input: &Input, facts: &Facts) -> Result<Record, Failure> {
    let operation = tool.operation();
    let snapshot = &facts.snapshot;
    same_order(input, facts)?;
    holds(snapshot.state == operation.precondition(), || {
        let needed = operation.precondition();
        format!(
            "the order is {}; `{}` needs it {needed}",
            snapshot.state,
            tool.name()
        )
    })?;
    let shipment = match tool {
        Tool::ReserveStock => {
            enough_stock(input, snapshot)?;
            None
        }
        Tool::PackOrder => None,
        Tool::Ship(carrier) => Some(Shipment {
            carrier,
            cost: live_rate(input, snapshot, carrier)?,
            tracking: tracking::number(task_id),
        }),
        Tool::ReadReceipt => Some(committed_shipment(task_id, snapshot)?),
    };
    Ok(Record {
        state: operation.postcondition().to_owned(),
        order_id: input.order_id.clone(),
        quantity: input.quantity,
        shipment,
    })
}

fn same_order(input: &Input, facts: &Facts) -> Result<(), Failure> {
    match facts.quantity {
        Some(begun) if begun != input.quantity => Err(Failure::Rejected(format!(
            "the order was begun with {begun} pieces, the request is for {}",
            input.quantity
        ))),
        _ => Ok(()),
    }
}

fn enough_stock(input: &Input, snapshot: &Snapshot) -> Result<(), Failure> {
    holds(snapshot.stock >= input.quantity, || {
        format!(
            "{} pieces are ordered, {} are on stock",
            input.quantity, snapshot.stock
        )
    })
}

fn live_rate(input: &Input, snapshot: &Snapshot, carrier: Carrier) -> Result<i64, Failure> {
    let limit = input.max_shipping_cents;
    match snapshot.rate(carrier) {
        Some(rate) if rate <= limit => Ok(rate),
        Some(rate) => Err(Failure::EnvironmentChanged(format!(
            "the {carrier} carrier takes {rate} cents now, more than {limit}"
        ))),
        None => Err(Failure::EnvironmentChanged(format!(
            "the {carrier} carrier has no rate at present"
        ))),
    }
}

fn committed_shipment(task_id: &str, snapshot: &Snapshot) -> Result<Shipment, Failure> {
    match (snapshot.carrier, snapshot.cost) {
        (Some(carrier), Some(cost)) => Ok(Shipment {
            carrier,
            cost,
            tracking: tracking::number(task_id),
        }),
        _ => Err(Failure::Rejected(
            "the shipped order has no shipment record".to_owned(),
        )),
    }
}

fn holds(precondition: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if precondition {
        Ok(())
    } else {
        Err(Failure::EnvironmentChanged(otherwise()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{input, snapshot};
    use crate::snapshot::State;

    const STANDARD: Tool = Tool::Ship(Carrier::Standard);

    fn facts(state: State) -> Facts {
        Facts {
            snapshot: snapshot(state),
            quantity: (state != State::New).then_some(2),
        }
    }

    fn perform(tool: Tool, facts: &Facts) -> Result<Record, Failure> {
        decide(tool, "demo", &input(), facts)
    }

    fn changed(tool: Tool, facts: &Facts) -> String {
        match perform(tool, facts) {
            Err(Failure::EnvironmentChanged(message)) => message,
            other => panic!("{tool:?} with {facts:?}: {other:?}"),
        }
    }

    fn rejected(tool: Tool, facts: &Facts) -> String {
        match perform(tool, facts) {
            Err(Failure::Rejected(message)) => message,
            other => panic!("{tool:?} with {facts:?}: {other:?}"),
        }
    }

    #[test]
    fn every_tool_leaves_its_postcondition_in_the_state_that_it_needs_and_changes_nothing_in_any_other()
     {
        for tool in Tool::ALL {
            for state in [State::New, State::Reserved, State::Packed, State::Shipped] {
                if state == tool.operation().precondition() {
                    let record = perform(tool, &facts(state)).expect("the precondition holds");
                    assert_eq!(record.state, tool.operation().postcondition());
                    assert_eq!(
                        (record.order_id.as_str(), record.quantity),
                        ("ORDER-1001", 2)
                    );
                } else {
                    assert!(changed(tool, &facts(state)).contains(&state.to_string()));
                }
            }
        }
    }

    #[test]
    fn the_last_piece_may_be_reserved_but_not_one_more() {
        let mut world = facts(State::New);
        world.snapshot.stock = 2;
        assert!(perform(Tool::ReserveStock, &world).is_ok());
        world.snapshot.stock = 1;
        assert_eq!(
            changed(Tool::ReserveStock, &world),
            "2 pieces are ordered, 1 are on stock"
        );
    }

    #[test]
    fn a_shipment_records_its_carrier_the_live_rate_and_the_tasks_tracking_number() {
        let mut world = facts(State::Packed);
        world.snapshot.economy = Some(499);
        let record = perform(Tool::Ship(Carrier::Economy), &world).expect("the rate is affordable");
        assert_eq!(
            record.shipment,
            Some(Shipment {
                carrier: Carrier::Economy,
                cost: 499,
                tracking: tracking::number("demo")
            })
        );
    }

    #[test]
    fn a_rate_at_the_limit_ships_and_one_above_it_does_not() {
        let mut world = facts(State::Packed);
        world.snapshot.standard = Some(500);
        assert!(perform(STANDARD, &world).is_ok());
        world.snapshot.standard = Some(501);
        assert_eq!(
            changed(STANDARD, &world),
            "the standard carrier takes 501 cents now, more than 500"
        );
        world.snapshot.standard = None;
        assert_eq!(
            changed(STANDARD, &world),
            "the standard carrier has no rate at present"
        );
    }

    #[test]
    fn the_receipt_repeats_the_shipment_as_committed_whatever_the_rates_are_now() {
        let shipped = perform(STANDARD, &facts(State::Packed)).expect("the rate is affordable");
        let mut world = facts(State::Shipped);
        world.snapshot.standard = Some(900);
        let receipt = perform(Tool::ReadReceipt, &world).expect("the order is shipped");
        assert_eq!(receipt.shipment, shipped.shipment);
    }

    #[test]
    fn a_receipt_needs_a_committed_shipment() {
        let mut world = facts(State::Shipped);
        world.snapshot.cost = None;
        assert_eq!(
            rejected(Tool::ReadReceipt, &world),
            "the shipped order has no shipment record"
        );
    }

    #[test]
    fn an_order_begun_with_another_quantity_is_never_touched() {
        for tool in Tool::ALL {
            let mut world = facts(tool.operation().precondition());
            world.quantity = Some(3);
            assert_eq!(
                rejected(tool, &world),
                "the order was begun with 3 pieces, the request is for 2"
            );
        }
    }
}
