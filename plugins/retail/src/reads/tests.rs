use serde_json::{Value, json};

use crate::fixture::{address, answer, operations, refusal, shop};

fn by_name(first: &str, last: &str, zip: &str) -> Value {
    json!({"first_name": first, "last_name": last, "zip": zip})
}

#[test]
fn customers_are_found_whatever_the_case_of_name_or_address() {
    let host = shop();
    let tool = "find_user_id_by_name_zip";
    assert_eq!(
        answer(&host, tool, by_name("MEI", "kovács", "80201")),
        "mei"
    );
    assert_eq!(
        answer(&host, tool, by_name("mei", "KOVÁCS", "80201")),
        "mei"
    );
    assert_eq!(
        refusal(&host, tool, by_name("Mei", "Kovács", "80202")),
        "User not found"
    );
    let tool = "find_user_id_by_email";
    assert_eq!(
        answer(&host, tool, json!({"email": "mei@EXAMPLE.com"})),
        "mei"
    );
    assert_eq!(
        refusal(&host, tool, json!({"email": "mei@example.co"})),
        "User not found"
    );
}

#[test]
fn a_customer_who_moved_is_found_by_the_new_postal_code() {
    let host = shop();
    answer(
        &host,
        "modify_user_address",
        address(json!({"user_id": "mei"})),
    );
    let tool = "find_user_id_by_name_zip";
    assert_eq!(
        answer(&host, tool, by_name("Mei", "Kovács", "78701")),
        "mei"
    );
    assert_eq!(
        refusal(&host, tool, by_name("Mei", "Kovács", "80201")),
        "User not found"
    );
}

#[test]
fn entities_are_answered_whole() {
    let host = shop();
    let user = answer(&host, "get_user_details", json!({"user_id": "mei"}));
    assert_eq!(user["orders"], json!(["#W2", "#W1"]));
    assert_eq!(
        user["payment_methods"]["gift_card_1"],
        json!({"source": "gift_card", "id": "gift_card_1", "balance": 10.0})
    );
    let order = answer(&host, "get_order_details", json!({"order_id": "#W2"}));
    assert_eq!(order["fulfillments"][0]["item_ids"], json!(["12", "21"]));
    assert!(order["return_items"].is_null());
    let product = answer(&host, "get_product_details", json!({"product_id": "20"}));
    assert_eq!(product["variants"]["22"]["price"], json!(7.5));
    assert_eq!(product["variants"].as_object().expect("variants").len(), 3);
    let item =
        json!({"item_id": "13", "options": {"color": "gold"}, "available": false, "price": 99.0});
    assert_eq!(
        answer(&host, "get_item_details", json!({"item_id": "13"})),
        item
    );
    assert_eq!(
        answer(&host, "list_all_product_types", json!({})),
        json!({"Bowl": "20", "Mug": "10"})
    );
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    let host = shop();
    for (tool, parameter, message) in [
        ("get_user_details", "user_id", "User not found"),
        ("get_order_details", "order_id", "Order not found"),
        ("get_product_details", "product_id", "Product not found"),
        ("get_item_details", "item_id", "Item not found"),
    ] {
        for id in ["", "10 ", "W1"] {
            assert_eq!(refusal(&host, tool, json!({parameter: id})), message);
        }
    }
}

#[test]
fn arithmetic_and_the_transfer_touch_nothing() {
    let host = shop();
    assert_eq!(
        answer(&host, "calculate", json!({"expression": "2 + 3"})),
        "5.0"
    );
    assert_eq!(
        refusal(&host, "calculate", json!({"expression": "x"})),
        "Invalid characters in expression"
    );
    let summary = json!({"summary": "The customer wants a discount."});
    assert_eq!(
        answer(&host, "transfer_to_human_agents", summary),
        "Transfer successful"
    );
    assert_eq!(operations(&host), 0);
}
