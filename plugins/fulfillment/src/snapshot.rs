//! Where one order stands, and what the world offers it: all that a plan is made from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The slice of business state that a task's plan is made from. Money is integer cents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// How far the order has come.
    pub state: State,
    /// Pieces of the article on stock; those of reserved orders are no longer among them.
    pub stock: i64,
    /// The standard carrier's rate. None: it has none at present.
    pub standard: Option<i64>,
    /// The economy carrier's rate. None: it has none at present.
    pub economy: Option<i64>,
    /// Who shipped the order. None: not yet shipped.
    pub carrier: Option<Carrier>,
    /// What the shipment cost. None: not yet shipped.
    pub cost: Option<i64>,
}

impl Snapshot {
    /// The carrier's live rate.
    pub fn rate(&self, carrier: Carrier) -> Option<i64> {
        match carrier {
            Carrier::Standard => self.standard,
            Carrier::Economy => self.economy,
        }
    }
}

/// How far an order has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing has happened yet; an order without a row is new.
    New,
    /// Its pieces are taken from the stock.
    Reserved,
    /// It waits for a carrier.
    Packed,
    /// A carrier has it.
    Shipped,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Reserved => "reserved",
            Self::Packed => "packed",
            Self::Shipped => "shipped",
        })
    }
}

/// Who can ship an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// The first choice.
    Standard,
    /// The alternative.
    Economy,
}

impl Carrier {
    /// Both, in declared order.
    pub const ALL: [Self; 2] = [Self::Standard, Self::Economy];
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standard => "standard",
            Self::Economy => "economy",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_new_order_has_neither_carrier_nor_cost() {
        let snapshot = Snapshot {
            state: State::New,
            stock: 10,
            standard: Some(300),
            economy: None,
            carrier: None,
            cost: None,
        };
        assert_eq!(
            serde_json::to_value(snapshot).expect("plain data"),
            json!({"state": "new", "stock": 10, "standard": 300, "economy": null, "carrier": null, "cost": null})
        );
    }

    #[test]
    fn people_and_programs_read_the_same_words() {
        for state in [State::New, State::Reserved, State::Packed, State::Shipped] {
            assert_eq!(json!(state), json!(state.to_string()));
        }
        for carrier in Carrier::ALL {
            assert_eq!(json!(carrier), json!(carrier.to_string()));
        }
    }
}
