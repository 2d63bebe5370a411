//! The four operations that take an order from one state to the next.

use crate::snapshot::State;

/// One business operation. It happens at most once per order, whichever
/// [tool](crate::tool::Tool) performs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Takes the pieces from the stock.
    Reserve,
    /// Makes the order ready for a carrier.
    Pack,
    /// Hands it to one carrier.
    Ship,
    /// Reads what was shipped; it changes nothing, but is part of the audit trail.
    Receipt,
}

impl Operation {
    /// All, in the only order in which they can happen.
    pub const ALL: [Self; 4] = [Self::Reserve, Self::Pack, Self::Ship, Self::Receipt];

    /// What an order in this state still needs, in order.
    pub fn remaining_from(state: State) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |operation| operation.precondition() >= state)
    }

    /// The state in which it can happen.
    pub fn precondition(self) -> State {
        match self {
            Self::Reserve => State::New,
            Self::Pack => State::Reserved,
            Self::Ship => State::Packed,
            Self::Receipt => State::Shipped,
        }
    }

    /// What its record reports as `state`.
    pub fn postcondition(self) -> &'static str {
        match self {
            Self::Reserve => "reserved",
            Self::Pack => "packed",
            Self::Ship => "shipped",
            Self::Receipt => "receipt",
        }
    }

    /// Its name in the host's ledger. It never changes: an order begun under an older version of the
    /// plugin must find its rows.
    pub fn key(self) -> &'static str {
        match self {
            Self::Reserve => "reserve_stock",
            Self::Pack => "pack_order",
            Self::Ship => "shipment",
            Self::Receipt => "read_receipt",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_leaves_the_state_that_the_next_one_needs() {
        for pair in Operation::ALL.windows(2) {
            assert_eq!(pair[0].postcondition(), pair[1].precondition().to_string());
        }
    }

    #[test]
    fn what_remains_shrinks_with_every_state() {
        let remaining = |state| Operation::remaining_from(state).collect::<Vec<_>>();
        assert_eq!(remaining(State::New), Operation::ALL);
        assert_eq!(remaining(State::Reserved), Operation::ALL[1..]);
        assert_eq!(remaining(State::Packed), Operation::ALL[2..]);
        assert_eq!(remaining(State::Shipped), Operation::ALL[3..]);
    }
}
