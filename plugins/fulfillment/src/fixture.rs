//! One request and its world, for the tests.

use wharf_plugin::Violation;

use crate::input::Input;
use crate::snapshot::{Carrier, Snapshot, State};

/// Two pieces, shipped for at most 500 cents.
pub(crate) fn input() -> Input {
    Input {
        order_id: "ORDER-1001".to_owned(),
        quantity: 2,
        max_shipping_cents: 500,
    }
}

/// That order in the given state; stock and both carriers suffice.
pub(crate) fn snapshot(state: State) -> Snapshot {
    let shipped = state == State::Shipped;
    Snapshot {
        state,
        stock: 10,
        standard: Some(300),
        economy: Some(400),
        carrier: shipped.then_some(Carrier::Standard),
        cost: shipped.then_some(300),
    }
}

/// The codes alone.
pub(crate) fn codes(violations: &[Violation]) -> Vec<String> {
    violations
        .iter()
        .map(|violation| violation.code.clone())
        .collect()
}
