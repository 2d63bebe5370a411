//! The sixteen tools.

use wharf_plugin::{Answer, Failure, Outcome, Tool as Declared, Tx, json};

use crate::arguments::{Arguments, Parameter, schema};
use crate::entity::{Order, User};
use crate::operation;
use crate::refusal::Stop;
use crate::snapshot::Committed;
use crate::store::Store;
use crate::{reads, writes};

/// What every tool leads to: an answer, which may be a refusal.
pub const POSTCONDITION: &str = "answered";

/// One tool.
#[derive(Debug)]
pub struct Tool {
    /// How plans name it.
    pub name: &'static str,
    /// What it tells the planning model about itself.
    pub description: &'static str,
    /// What a step must give.
    pub parameters: &'static [Parameter],
    /// What it does.
    pub call: Call,
}

/// The result of a tool, as JSON text.
pub type Found = Result<String, Stop>;

/// What a tool does.
#[derive(Debug, Clone, Copy)]
pub enum Call {
    /// Changes nothing.
    Read(fn(&Arguments, &Store<'_>) -> Found),
    /// Changes the order that the parameter `order_id` names, and what belongs to it.
    Order(fn(&Order, &Arguments, &Store<'_>) -> Result<(), Stop>),
    /// Changes the customer that the parameter `user_id` names.
    User(fn(&User, &Arguments, &Store<'_>) -> Result<(), Stop>),
}

const ORDER: Parameter = Parameter::text("order_id", "The order's id, with its leading `#`.");
const USER: Parameter = Parameter::text("user_id", "The customer's id.");
const ITEMS: Parameter = Parameter::list(
    "item_ids",
    "The items' ids; one that is meant twice stands there twice.",
);
const NEW_ITEMS: Parameter = Parameter::list(
    "new_item_ids",
    "What comes instead, item by item: an available variant of the same product.",
);
const PAYMENT_METHOD: Parameter = Parameter::text(
    "payment_method_id",
    "One of the customer's payment methods.",
);
const ADDRESS1: Parameter = Parameter::text("address1", "Street and number.");
const ADDRESS2: Parameter = Parameter::text("address2", "May be empty.");
const CITY: Parameter = Parameter::text("city", "The city.");
const STATE: Parameter = Parameter::text("state", "The state, as `CA`.");
const COUNTRY: Parameter = Parameter::text("country", "The country, as `USA`.");
const ZIP: Parameter = Parameter::text("zip", "The postal code.");

/// All, in declared order.
pub static TOOLS: [Tool; 16] = [
    Tool {
        name: "find_user_id_by_name_zip",
        description: "Finds the customer's id by name, in any case, and postal code.",
        parameters: &[
            Parameter::text("first_name", "The first name."),
            Parameter::text("last_name", "The last name."),
            ZIP,
        ],
        call: Call::Read(reads::user_by_name),
    },
    Tool {
        name: "find_user_id_by_email",
        description: "Finds the customer's id by e-mail address, in any case.",
        parameters: &[Parameter::text("email", "The whole address.")],
        call: Call::Read(reads::user_by_email),
    },
    Tool {
        name: "get_user_details",
        description: "The customer with address, payment methods and order ids.",
        parameters: &[USER],
        call: Call::Read(reads::user),
    },
    Tool {
        name: "get_order_details",
        description: "The order with items, payments and status.",
        parameters: &[ORDER],
        call: Call::Read(reads::order),
    },
    Tool {
        name: "get_product_details",
        description: "The product with all variants, their options, prices and availability.",
        parameters: &[Parameter::text(
            "product_id",
            "The product's id, not an item's.",
        )],
        call: Call::Read(reads::product),
    },
    Tool {
        name: "get_item_details",
        description: "One variant with options, price and availability.",
        parameters: &[Parameter::text(
            "item_id",
            "The item's id, not the product's.",
        )],
        call: Call::Read(reads::item),
    },
    Tool {
        name: "list_all_product_types",
        description: "The names and ids of all products.",
        parameters: &[],
        call: Call::Read(reads::products),
    },
    Tool {
        name: "calculate",
        description: "The value of an arithmetic expression, rounded to two digits.",
        parameters: &[Parameter::text(
            "expression",
            "Decimals, `+ - * /`, parentheses and spaces.",
        )],
        call: Call::Read(reads::calculate),
    },
    Tool {
        name: "transfer_to_human_agents",
        description: "Hands the customer over to a person, for what no other tool can do.",
        parameters: &[Parameter::text("summary", "What the customer needs.")],
        call: Call::Read(reads::transfer),
    },
    Tool {
        name: "cancel_pending_order",
        description: "Cancels an order whose status is exactly `pending` and refunds its payments.",
        parameters: &[
            ORDER,
            Parameter::text("reason", "`no longer needed` or `ordered by mistake`."),
        ],
        call: Call::Order(writes::cancel),
    },
    Tool {
        name: "exchange_delivered_order_items",
        description: "Requests other variants for items of a `delivered` order. Once per order, for \
            all items at the same time.",
        parameters: &[ORDER, ITEMS, NEW_ITEMS, PAYMENT_METHOD],
        call: Call::Order(writes::exchange),
    },
    Tool {
        name: "return_delivered_order_items",
        description: "Requests the return of items of a `delivered` order, refunded to a gift card \
            or to the original payment method. Once per order.",
        parameters: &[ORDER, ITEMS, PAYMENT_METHOD],
        call: Call::Order(writes::return_items),
    },
    Tool {
        name: "modify_pending_order_items",
        description: "Puts other variants in the place of items of an order whose status is exactly \
            `pending`. Once per order, for all items at the same time.",
        parameters: &[ORDER, ITEMS, NEW_ITEMS, PAYMENT_METHOD],
        call: Call::Order(writes::modify_items),
    },
    Tool {
        name: "modify_pending_order_payment",
        description: "Pays a pending order by another payment method and refunds the first.",
        parameters: &[ORDER, PAYMENT_METHOD],
        call: Call::Order(writes::modify_payment),
    },
    Tool {
        name: "modify_pending_order_address",
        description: "Sends a pending order to another address.",
        parameters: &[ORDER, ADDRESS1, ADDRESS2, CITY, STATE, COUNTRY, ZIP],
        call: Call::Order(writes::order_address),
    },
    Tool {
        name: "modify_user_address",
        description: "Changes the customer's address; orders keep theirs.",
        parameters: &[USER, ADDRESS1, ADDRESS2, CITY, STATE, COUNTRY, ZIP],
        call: Call::User(writes::user_address),
    },
];

impl Tool {
    /// The tool of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The tools that change something.
    pub fn writing() -> impl Iterator<Item = &'static Self> {
        TOOLS.iter().filter(|tool| tool.writes())
    }

    /// As the descriptor declares it.
    pub fn declared(&self) -> Declared {
        let declare = match self.call {
            Call::Read(_) => Declared::read,
            Call::Order(_) | Call::User(_) => Declared::write,
        };
        declare(self.name, self.description, POSTCONDITION).with_arguments(schema(self.parameters))
    }

    /// Whether it changes something.
    pub fn writes(&self) -> bool {
        !matches!(self.call, Call::Read(_))
    }

    /// Calls it. What it carried out is noted with it, in the same transaction.
    pub fn perform(
        &'static self,
        task_id: &str,
        arguments: &Arguments,
        tx: &Tx<'_>,
    ) -> Result<Answer, Failure> {
        let store = Store::over(tx);
        let found = match self.call {
            Call::Read(read) => read(arguments, &store),
            Call::Order(write) => {
                let order = || store.order(arguments.text("order_id"));
                self.write(task_id, arguments, &store, order, write)
            }
            Call::User(write) => {
                let user = || store.user(arguments.text("user_id"));
                self.write(task_id, arguments, &store, user, write)
            }
        };
        match found {
            Ok(data) => Ok(Answer::Done(Outcome {
                state: POSTCONDITION.to_owned(),
                data,
            })),
            Err(stop) => stop.answer(),
        }
    }

    /// The result is what was changed, as it is now.
    fn write<T: serde::Serialize>(
        &self,
        task_id: &str,
        arguments: &Arguments,
        store: &Store<'_>,
        read: impl Fn() -> Result<T, Stop>,
        write: fn(&T, &Arguments, &Store<'_>) -> Result<(), Stop>,
    ) -> Found {
        let before = read()?;
        write(&before, arguments, store)?;
        let after = json(&read()?);
        let done = Committed {
            operation_key: operation::key(self, arguments),
            tool: self.name.to_owned(),
            changed: json(&before) != after,
        };
        store.record_operation(task_id, &done)?;
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nine_tools_read_and_seven_write() {
        assert_eq!(Tool::writing().count(), 7);
        let names: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), TOOLS.len());
    }

    #[test]
    fn a_tool_that_writes_takes_what_it_changes() {
        for tool in &TOOLS {
            let takes = |name| tool.parameters.iter().any(|each| each.name == name);
            match tool.call {
                Call::Read(_) => {}
                Call::Order(_) => assert!(takes("order_id"), "{}", tool.name),
                Call::User(_) => assert!(takes("user_id"), "{}", tool.name),
            }
        }
    }
}
