use serde_json::{Value, json};
use wharf_plugin::{Sql, Value as Column};

use crate::fixture::{address, answer, operations, refusal, shop};

fn balance(host: &impl Sql) -> f64 {
    let sql = "SELECT balance FROM payment_methods WHERE id = 'gift_card_1'";
    match host.query(sql, &[]).expect("a row").rows[0][0] {
        Column::Real(balance) => balance,
        ref other => panic!("{other:?}"),
    }
}

fn items(order: &str, old: &[&str], new: &[&str], method: &str) -> Value {
    json!({
        "order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method,
    })
}

fn payments(order: &Value) -> Vec<(&str, f64, &str)> {
    let history = order["payment_history"].as_array().expect("a history");
    history
        .iter()
        .map(|paid| {
            let text = |name: &str| paid[name].as_str().expect("a text");
            let amount = paid["amount"].as_f64().expect("a number");
            (text("transaction_type"), amount, text("payment_method_id"))
        })
        .collect()
}

const CANCEL: &str = "cancel_pending_order";
const EXCHANGE: &str = "exchange_delivered_order_items";
const RETURN: &str = "return_delivered_order_items";
const ITEMS: &str = "modify_pending_order_items";
const PAYMENT: &str = "modify_pending_order_payment";

#[test]
fn cancelling_refunds_what_was_paid() {
    let host = shop();
    let order = answer(
        &host,
        CANCEL,
        json!({"order_id": "#W1", "reason": "no longer needed"}),
    );
    assert_eq!(order["status"], "cancelled");
    assert_eq!(order["cancel_reason"], "no longer needed");
    assert_eq!(
        payments(&order),
        [
            ("payment", 25.2, "credit_card_1"),
            ("refund", 25.2, "credit_card_1")
        ]
    );
    assert_eq!(order.as_object().expect("an object").len(), 14);
}

/// The history then holds a payment, another payment and a refund, and each of them is refunded.
#[test]
fn cancelling_after_a_change_of_payment_refunds_all_three_entries() {
    let host = shop();
    host.seed("UPDATE payment_methods SET balance = 100.0 WHERE id = 'gift_card_1'");
    let change = json!({"order_id": "#W1", "payment_method_id": "gift_card_1"});
    let order = answer(&host, PAYMENT, change);
    assert_eq!(order["status"], "pending");
    assert_eq!(
        payments(&order),
        [
            ("payment", 25.2, "credit_card_1"),
            ("payment", 25.2, "gift_card_1"),
            ("refund", 25.2, "credit_card_1")
        ]
    );
    assert_eq!(balance(host.database()), 74.8);
    let order = answer(
        &host,
        CANCEL,
        json!({"order_id": "#W1", "reason": "ordered by mistake"}),
    );
    assert_eq!(
        payments(&order)[3..],
        [
            ("refund", 25.2, "credit_card_1"),
            ("refund", 25.2, "gift_card_1"),
            ("refund", 25.2, "credit_card_1")
        ]
    );
    assert_eq!(balance(host.database()), 100.0);
    assert_eq!(operations(&host), 2);
}

#[test]
fn a_gift_card_that_is_no_longer_paid_with_gets_its_money_back() {
    let host = shop();
    host.seed(
        "UPDATE payments SET payment_method_id = 'gift_card_1', amount = 3.3 WHERE order_id = '#W1'",
    );
    answer(
        &host,
        PAYMENT,
        json!({"order_id": "#W1", "payment_method_id": "paypal_1"}),
    );
    assert_eq!(balance(host.database()), 13.3);
}

#[test]
fn only_a_purely_pending_order_is_cancelled_for_one_of_two_reasons() {
    let host = shop();
    let cancel = |order: &str, reason: &str| json!({"order_id": order, "reason": reason});
    assert_eq!(refusal(&host, CANCEL, cancel("W1", "")), "Order not found");
    assert_eq!(
        refusal(&host, CANCEL, cancel("#W2", "")),
        "Non-pending order cannot be cancelled"
    );
    assert_eq!(
        refusal(&host, CANCEL, cancel("#W1", "No longer needed")),
        "Invalid reason"
    );
    answer(&host, ITEMS, items("#W1", &["21"], &["22"], "paypal_1"));
    assert_eq!(
        refusal(&host, CANCEL, cancel("#W1", "no longer needed")),
        "Non-pending order cannot be cancelled"
    );
}

/// Money is credited before a later payment's method turns out to be missing.
#[test]
fn a_cancellation_that_fails_halfway_leaves_no_trace() {
    let host = shop();
    host.seed(
        "UPDATE payments SET payment_method_id = 'gift_card_1' WHERE order_id = '#W1';
        INSERT INTO payments VALUES ('#W1', 1, 'payment', 1.0, 'gone')",
    );
    let cancel = json!({"order_id": "#W1", "reason": "no longer needed"});
    assert_eq!(refusal(&host, CANCEL, cancel), "Payment method not found");
    assert_eq!((balance(host.database()), operations(&host)), (10.0, 0));
}

#[test]
fn an_exchange_notes_sorted_lists_and_the_rounded_difference_and_moves_nothing() {
    let host = shop();
    let order = answer(
        &host,
        EXCHANGE,
        items("#W2", &["21", "12"], &["22", "11"], "gift_card_1"),
    );
    assert_eq!(order["status"], "exchange requested");
    assert_eq!(order["exchange_items"], json!(["12", "21"]));
    assert_eq!(order["exchange_new_items"], json!(["11", "22"]));
    assert_eq!(order["exchange_price_difference"], json!(0.4));
    assert_eq!(order["items"][0]["item_id"], "12");
    assert_eq!(payments(&order).len(), 1);
    assert_eq!(balance(host.database()), 10.0);
}

#[test]
fn a_tiny_negative_difference_is_kept_as_negative_zero() {
    let host = shop();
    host.seed(
        "UPDATE variants SET price = 0.3 WHERE item_id = '11';
        UPDATE variants SET price = 0.30000000000000004 WHERE item_id = '12';
        UPDATE order_items SET price = 0.30000000000000004 WHERE item_id = '12'",
    );
    let order = answer(&host, EXCHANGE, items("#W2", &["12"], &["11"], "paypal_1"));
    assert_eq!(order["exchange_price_difference"].to_string(), "-0.0");
    let dump = retail_data::Dump::read(host.database()).expect("a dump");
    assert!(dump.text().contains("\"exchange_price_difference\": -0.0,"));
}

#[test]
fn an_exchange_is_refused_in_the_benchmarks_order_of_checks() {
    let host = shop();
    let exchange = |old: &[&str], new: &[&str], method: &str| {
        refusal(&host, EXCHANGE, items("#W2", old, new, method))
    };
    assert_eq!(
        refusal(&host, EXCHANGE, items("#W1", &["9"], &["9"], "gone")),
        "Non-delivered order cannot be exchanged"
    );
    assert_eq!(
        exchange(&["12", "12"], &["9"], "gone"),
        "Number of 12 not found."
    );
    assert_eq!(
        exchange(&["12"], &["9", "9"], "gone"),
        "The number of items to be exchanged should match."
    );
    assert_eq!(exchange(&["12"], &["22"], "gone"), "Variant not found");
    assert_eq!(
        exchange(&["12"], &["13"], "gone"),
        "New item 13 not found or available"
    );
    assert_eq!(
        exchange(&["21"], &["23"], "gone"),
        "Payment method not found"
    );
    assert_eq!(
        exchange(&["21"], &["23"], "gift_card_1"),
        "Insufficient gift card balance to pay for the price difference"
    );
    let again = items("#W2", &["12"], &["12"], "gift_card_1");
    answer(&host, EXCHANGE, again.clone());
    assert_eq!(
        refusal(&host, EXCHANGE, again),
        "Non-delivered order cannot be exchanged"
    );
}

#[test]
fn a_return_goes_to_a_gift_card_or_to_the_original_method() {
    let give_back = |items: &[&str], method: &str| json!({"order_id": "#W2", "item_ids": items, "payment_method_id": method});
    let host = shop();
    assert_eq!(
        refusal(&host, RETURN, give_back(&["9"], "credit_card_1")),
        "Payment method should be the original payment method"
    );
    assert_eq!(
        refusal(&host, RETURN, give_back(&["9"], "paypal_1")),
        "Some item not found"
    );
    assert_eq!(
        refusal(&host, RETURN, give_back(&["12"], "paypal_2")),
        "Payment method not found"
    );
    let order = answer(&host, RETURN, give_back(&["21", "12"], "gift_card_1"));
    assert_eq!(order["status"], "return requested");
    assert_eq!(order["return_items"], json!(["12", "21"]));
    assert_eq!(order["return_payment_method_id"], "gift_card_1");
    assert_eq!(
        (payments(&order).len(), balance(host.database())),
        (1, 10.0)
    );
    let order = answer(&shop(), RETURN, give_back(&["12"], "paypal_1"));
    assert_eq!(order["return_items"], json!(["12"]));
}

#[test]
fn changed_items_all_carry_the_last_variants_price_and_options() {
    let host = shop();
    host.seed("UPDATE variants SET price = 12.3 WHERE item_id = '12'");
    let order = answer(
        &host,
        ITEMS,
        items("#W1", &["11", "21"], &["12", "22"], "gift_card_1"),
    );
    assert_eq!(order["status"], "pending (item modified)");
    let large = json!({"size": "L"});
    for (position, name, item, price, options) in [
        (0, "Mug", "12", 7.5, &large),
        (1, "Bowl", "22", 7.5, &large),
        (2, "Mug", "11", 10.1, &json!({"color": "red"})),
    ] {
        let found = &order["items"][position];
        assert_eq!(found["name"], name);
        assert_eq!(found["item_id"], item);
        assert_eq!(found["price"], json!(price));
        assert_eq!(found["options"], *options);
    }
    // 12.3 - 10.1 + 7.5 - 5.0, as doubles add up.
    let difference = 4.700000000000001;
    assert_eq!(payments(&order)[1], ("payment", difference, "gift_card_1"));
    assert_eq!(balance(host.database()), 5.3);
}

/// The first pair makes a second `12`; the second pair then takes the first `12` that it finds, which is
/// the one just made.
#[test]
fn a_new_item_may_be_the_old_item_of_the_next_pair() {
    let host = shop();
    host.seed(
        "UPDATE order_items SET item_id = '12', price = 12.2 WHERE order_id = '#W1' AND position = 2",
    );
    let order = answer(
        &host,
        ITEMS,
        items("#W1", &["11", "12"], &["12", "14"], "paypal_1"),
    );
    let ids: Vec<_> = (0..3)
        .map(|i| order["items"][i]["item_id"].clone())
        .collect();
    assert_eq!(ids, ["14", "21", "12"]);
}

#[test]
fn a_cheaper_item_is_refunded_and_so_is_one_of_the_same_price() {
    let host = shop();
    let order = answer(&host, ITEMS, items("#W1", &["11"], &["14"], "gift_card_1"));
    assert_eq!(payments(&order)[1], ("refund", 10.1 - 8.05, "gift_card_1"));
    assert_eq!(balance(host.database()), 12.05);
    let host = shop();
    host.seed("UPDATE variants SET price = 10.1 WHERE item_id = '14'");
    let order = answer(&host, ITEMS, items("#W1", &["11"], &["14"], "paypal_1"));
    assert_eq!(payments(&order)[1], ("refund", 0.0, "paypal_1"));
}

#[test]
fn a_change_of_items_is_refused_in_the_benchmarks_order_of_checks() {
    let host = shop();
    let modify = |old: &[&str], new: &[&str], method: &str| {
        refusal(&host, ITEMS, items("#W1", old, new, method))
    };
    assert_eq!(
        refusal(&host, ITEMS, items("#W2", &["9"], &["9"], "gone")),
        "Non-pending order cannot be modified"
    );
    assert_eq!(modify(&["11", "11", "11"], &["9"], "gone"), "11 not found");
    assert_eq!(
        modify(&["11"], &["9", "9"], "gone"),
        "The number of items to be exchanged should match"
    );
    assert_eq!(
        modify(&["11"], &["11"], "gone"),
        "The new item id should be different from the old item id"
    );
    assert_eq!(modify(&["11"], &["21"], "gone"), "Variant not found");
    assert_eq!(
        modify(&["11"], &["13"], "gone"),
        "New item 13 not found or available"
    );
    assert_eq!(
        modify(&["11"], &["12"], "paypal_2"),
        "Payment method not found"
    );
    assert_eq!(
        modify(&["21"], &["23"], "gift_card_1"),
        "Insufficient gift card balance to pay for the new item"
    );
}

#[test]
fn a_change_of_payment_is_refused_in_the_benchmarks_order_of_checks() {
    let host = shop();
    let change = |order: &str, method: &str| {
        let arguments = json!({"order_id": order, "payment_method_id": method});
        refusal(&host, PAYMENT, arguments)
    };
    assert_eq!(
        change("#W2", "gone"),
        "Non-pending order cannot be modified"
    );
    assert_eq!(change("#W1", "gone"), "Payment method not found");
    assert_eq!(
        change("#W1", "credit_card_1"),
        "The new payment method should be different from the current one"
    );
    assert_eq!(
        change("#W1", "gift_card_1"),
        "Insufficient gift card balance to pay for the order"
    );
    host.seed("INSERT INTO payments VALUES ('#W1', 1, 'refund', 1.0, 'paypal_1')");
    assert_eq!(
        change("#W1", "paypal_1"),
        "There should be exactly one payment for a pending order"
    );
}

#[test]
fn addresses_change_where_they_are_asked_to_and_the_same_address_changes_nothing() {
    let host = shop();
    let order = address(json!({"order_id": "#W1"}));
    let changed = answer(&host, "modify_pending_order_address", order.clone());
    assert_eq!(changed["address"]["city"], "Austin");
    assert_eq!(
        answer(&host, "get_user_details", json!({"user_id": "mei"}))["address"]["city"],
        "Denver"
    );
    answer(&host, "modify_pending_order_address", order);
    let user = answer(
        &host,
        "modify_user_address",
        address(json!({"user_id": "mei"})),
    );
    assert_eq!(user["address"]["address2"], "");
    let noted = host
        .database()
        .query("SELECT changed FROM operations ORDER BY number", &[]);
    let noted: Vec<_> = noted.expect("rows").rows.concat();
    assert_eq!(
        noted,
        [Column::Integer(1), Column::Integer(0), Column::Integer(1)]
    );

    let delivered = address(json!({"order_id": "#W2"}));
    assert_eq!(
        refusal(&host, "modify_pending_order_address", delivered),
        "Non-pending order cannot be modified"
    );
    let nobody = address(json!({"user_id": "Mei"}));
    assert_eq!(
        refusal(&host, "modify_user_address", nobody),
        "User not found"
    );
}
