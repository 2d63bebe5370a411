//! The tools that a plan may name.

use wharf_plugin::Tool as Declared;

use crate::operation::Operation;
use crate::snapshot::Carrier;

/// One way to perform an operation. No tool takes arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The only way to reserve.
    ReserveStock,
    /// The only way to pack.
    PackOrder,
    /// Alternatives: they share one operation, and so its key.
    Ship(Carrier),
    /// The only way to read the receipt.
    ReadReceipt,
}

impl Tool {
    /// All, in declared order: a planner without preferences tries earlier ones first.
    pub const ALL: [Self; 5] = [
        Self::ReserveStock,
        Self::PackOrder,
        Self::Ship(Carrier::Standard),
        Self::Ship(Carrier::Economy),
        Self::ReadReceipt,
    ];

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// How plans name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReserveStock => "reserve_stock",
            Self::PackOrder => "pack_order",
            Self::Ship(Carrier::Standard) => "ship_standard",
            Self::Ship(Carrier::Economy) => "ship_economy",
            Self::ReadReceipt => "read_receipt",
        }
    }

    /// What it tells the planning model about itself.
    pub fn description(self) -> &'static str {
        match self {
            Self::ReserveStock => {
                "Takes the ordered pieces from the stock. Needs state `new` and enough `stock`."
            }
            Self::PackOrder => "Packs the order. Needs state `reserved`.",
            Self::Ship(Carrier::Standard) => {
                "Ships with the standard carrier. Needs state `packed` and `standard` within the limit."
            }
            Self::Ship(Carrier::Economy) => {
                "Ships with the economy carrier. Needs state `packed` and `economy` within the limit."
            }
            Self::ReadReceipt => {
                "Reads the receipt of the shipment; changes nothing. Needs state `shipped`."
            }
        }
    }

    /// As the descriptor declares it.
    pub fn declared(self) -> Declared {
        let (name, description) = (self.name(), self.description());
        let postcondition = self.operation().postcondition();
        match self.operation() {
            Operation::Receipt => Declared::read(name, description, postcondition),
            _ => Declared::write(name, description, postcondition),
        }
    }

    /// What it performs.
    pub fn operation(self) -> Operation {
        match self {
            Self::ReserveStock => Operation::Reserve,
            Self::PackOrder => Operation::Pack,
            Self::Ship(_) => Operation::Ship,
            Self::ReadReceipt => Operation::Receipt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_stand_in_declared_order_with_their_postconditions_and_keys() {
        let table = Tool::ALL.map(|tool| {
            (
                tool.name(),
                tool.operation().postcondition(),
                tool.operation().key(),
            )
        });
        assert_eq!(
            table,
            [
                ("reserve_stock", "reserved", "reserve_stock"),
                ("pack_order", "packed", "pack_order"),
                ("ship_standard", "shipped", "shipment"),
                ("ship_economy", "shipped", "shipment"),
                ("read_receipt", "receipt", "read_receipt"),
            ]
        );
    }

    #[test]
    fn a_tool_is_found_by_its_exact_name_only() {
        for tool in Tool::ALL {
            assert_eq!(Tool::named(tool.name()), Some(tool));
        }
        assert_eq!(Tool::named("shipment"), None);
        assert_eq!(Tool::named("Pack_Order"), None);
        assert_eq!(Tool::named(""), None);
    }
}
