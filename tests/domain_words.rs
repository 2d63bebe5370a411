//! The core knows no domain: no word of the two domains stands under `host/src`, save in the file that declares the demo's
//! options.

use wharf_tests::{root, sources};

/// Their inputs, tables, columns and tools, wherever they stand, in other words too. Not `state` and `cost`, which every language
/// of programs needs.
const WORDS: [&str; 29] = [
    "orderId",
    "order_id",
    "maxShippingCents",
    "max_shipping_cents",
    "max-shipping-cents",
    "reserve_stock",
    "pack_order",
    "ship_standard",
    "ship_economy",
    "read_receipt",
    "fulfillment",
    "shipment",
    "shipping",
    "inventory",
    "receipt",
    "carrier",
    "retail",
    "tau2",
    "customer",
    "user_id",
    "userId",
    "item_id",
    "find_user",
    "get_product",
    "payment_method",
    "pending_order",
    "delivered_order",
    "human_agents",
    "gift_card",
];

/// Those that are part of harmless words: only as words of their own.
const WHOLE_WORDS: [&str; 10] = [
    "quantity", "stock", "sku", "cents", "rates", "orders", "products", "variants", "payments",
    "users",
];

const EXCEPTION: &str = "cli/demo.rs";

fn host_sources() -> Vec<(String, String)> {
    let folder = root().join("host/src");
    let name = |path: &std::path::Path| path.strip_prefix(&folder).unwrap().display().to_string();
    sources(&folder)
        .into_iter()
        .map(|(path, text)| (name(&path), text))
        .collect()
}

/// Lines with a word of the domain, as `file:line: word`.
fn found(sources: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in sources {
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let words: Vec<_> = lower
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .collect();
            let inside = WORDS
                .iter()
                .filter(|word| lower.contains(&word.to_lowercase()));
            let whole = WHOLE_WORDS.iter().filter(|word| words.contains(*word));
            found.extend(
                inside
                    .chain(whole)
                    .map(|word| format!("{name}:{}: {word}", number + 1)),
            );
        }
    }
    found
}

#[test]
fn no_word_of_a_domain_stands_under_the_hosts_sources() {
    let mut sources = host_sources();
    sources.retain(|(name, _)| name != EXCEPTION);
    assert!(sources.len() > 100, "the sources were found");
    assert_eq!(found(&sources), [""; 0]);
}

#[test]
fn the_one_file_that_may_hold_such_words_does() {
    let mut sources = host_sources();
    sources.retain(|(name, _)| name == EXCEPTION);
    assert_ne!(found(&sources), [""; 0]);
}
