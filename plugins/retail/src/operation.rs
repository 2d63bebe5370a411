//! When two steps are one operation.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::arguments::Arguments;
use crate::tool::{Call, Tool};

/// The operation's name in the host's ledger, on the subject of the task: tool, what it changes, and
/// the first half of the SHA-256 of the canonical arguments.
///
/// The tool is part of it because one order may be asked two things with the same arguments, of which
/// one is refused. There is no counter: a plan that lists one change twice is refused. It never
/// changes: a task begun under an older version of the plugin must find its rows.
pub fn key(tool: &Tool, arguments: &Arguments) -> String {
    let changed = match tool.call {
        Call::User(_) => arguments.text("user_id"),
        Call::Read(_) | Call::Order(_) => arguments.text("order_id"),
    };
    let hash = Sha256::digest(arguments.canonical());
    let hash: String = hash[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // The host allows 200 bytes; the hash tells apart what is cut.
    let changed: String = changed
        .chars()
        .filter(char::is_ascii_graphic)
        .take(80)
        .collect();
    format!("{}/{changed}/{hash}", tool.name)
}

impl Arguments {
    /// Keys sorted, lists in their order, no blanks: equal for equal arguments, however they were
    /// written.
    fn canonical(&self) -> String {
        let texts = self.texts().map(|(name, text)| (name, Value::from(text)));
        let lists = self.lists().map(|(name, list)| (name, Value::from(list)));
        let sorted: std::collections::BTreeMap<_, _> = texts.chain(lists).collect();
        wharf_plugin::json(&sorted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(tool: &str, json: &str) -> String {
        let tool = Tool::named(tool).expect("a tool");
        let arguments = Arguments::parse(tool.parameters, json).expect("fitting arguments");
        key(tool, &arguments)
    }

    #[test]
    fn the_key_names_tool_and_order_and_hashes_the_canonical_arguments() {
        let hash = Sha256::digest(r##"{"order_id":"#W1","reason":"no longer needed"}"##);
        let hash: String = hash[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let json = r##"{ "reason": "no longer needed", "order_id": "#W1" }"##;
        assert_eq!(
            key_of("cancel_pending_order", json),
            format!("cancel_pending_order/#W1/{hash}")
        );
    }

    #[test]
    fn two_tools_with_the_same_arguments_are_two_operations_and_so_are_two_orders_of_a_list() {
        let json = |ids: &str| {
            format!(
                r##"{{"order_id": "#W1", "item_ids": {ids}, "new_item_ids": ["3", "4"],
                "payment_method_id": "paypal_1"}}"##
            )
        };
        let exchange = |ids| key_of("exchange_delivered_order_items", &json(ids));
        let modify = |ids| key_of("modify_pending_order_items", &json(ids));
        let hash = |key: &str| key.rsplit('/').next().map(str::to_owned);
        let ids = r#"["1", "2"]"#;
        assert_ne!(exchange(ids), modify(ids));
        assert_eq!(hash(&exchange(ids)), hash(&modify(ids)));
        assert_ne!(exchange(ids), exchange(r#"["2", "1"]"#));
    }

    #[test]
    fn the_longest_key_is_within_the_hosts_bound() {
        for tool in Tool::writing() {
            let arguments: serde_json::Map<_, _> = tool
                .parameters
                .iter()
                .map(|each| {
                    let long = Value::from("#ä\0".repeat(150));
                    let value = match each.kind {
                        crate::arguments::Kind::Text => long,
                        crate::arguments::Kind::List => Value::from(vec![long]),
                    };
                    (each.name.to_owned(), value)
                })
                .collect();
            let key = key_of(tool.name, &Value::from(arguments).to_string());
            assert!(key.len() <= 200 && !key.contains('\0'), "{key}");
        }
    }
}
