//! Whether an order can still be completed.

use wharf_plugin::Violation;

use crate::input::Input;
use crate::snapshot::{Carrier, Snapshot, State};

/// Everything that keeps the order from being completed; empty: nothing does.
///
/// A `ready` plan needs an empty list, a `needs-human` plan one that is not.
pub fn obstacles(input: &Input, snapshot: &Snapshot) -> Vec<Violation> {
    let mut obstacles = Vec::new();
    if snapshot.state == State::New && snapshot.stock < input.quantity {
        let message = format!(
            "{} pieces are ordered, {} are on stock",
            input.quantity, snapshot.stock
        );
        obstacles.push(Violation::new("insufficient-stock", message));
    }
    if snapshot.state < State::Shipped && !any_affordable(input, snapshot) {
        let message = format!(
            "no carrier's rate is within {} cents",
            input.max_shipping_cents
        );
        obstacles.push(Violation::new("no-affordable-carrier", message));
    }
    obstacles
}

/// Whether the carrier ships at present, and within the request's limit.
pub fn affordable(input: &Input, snapshot: &Snapshot, carrier: Carrier) -> bool {
    snapshot
        .rate(carrier)
        .is_some_and(|rate| rate <= input.max_shipping_cents)
}

/// Whether at least one carrier is [`affordable`].
pub fn any_affordable(input: &Input, snapshot: &Snapshot) -> bool {
    Carrier::ALL
        .into_iter()
        .any(|carrier| affordable(input, snapshot, carrier))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{codes, input, snapshot};

    fn obstacles_of(snapshot: &Snapshot) -> Vec<String> {
        codes(&obstacles(&input(), snapshot))
    }

    #[test]
    fn nothing_stands_in_the_way_of_an_order_with_stock_and_one_affordable_carrier() {
        let mut world = snapshot(State::New);
        world.stock = 2;
        world.standard = None;
        world.economy = Some(500);
        assert!(obstacles_of(&world).is_empty());
    }

    #[test]
    fn stock_matters_only_until_it_is_reserved() {
        let mut world = snapshot(State::New);
        world.stock = 1;
        assert_eq!(obstacles_of(&world), ["insufficient-stock"]);
        world.state = State::Reserved;
        assert!(obstacles_of(&world).is_empty());
    }

    #[test]
    fn rates_matter_only_until_shipment() {
        let mut world = snapshot(State::Packed);
        world.standard = Some(501);
        world.economy = None;
        assert_eq!(obstacles_of(&world), ["no-affordable-carrier"]);
        world.state = State::Shipped;
        assert!(obstacles_of(&world).is_empty());
    }

    #[test]
    fn both_obstacles_are_named_at_once() {
        let mut world = snapshot(State::New);
        world.stock = 0;
        world.standard = Some(900);
        world.economy = Some(900);
        assert_eq!(
            obstacles_of(&world),
            ["insufficient-stock", "no-affordable-carrier"]
        );
    }
}
