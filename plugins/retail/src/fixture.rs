//! A small shop, for the tests.

use serde_json::{Value, json};
use wharf_plugin::testing::{self, TestHost};
use wharf_plugin::{Answer, Sql, Step, Task};

use crate::Retail;
use crate::tool::{POSTCONDITION, Tool};

/// Mei, with a gift card of 10.0, a credit card and PayPal, has a pending order `#W1` (two mugs, one
/// bowl) and a delivered one, `#W2`; Otto has a pending one, `#W3`.
pub(crate) fn shop() -> TestHost<Retail> {
    let host = TestHost::new();
    host.seed(include_str!("fixture.sql"));
    host
}

/// Mei's task.
pub(crate) fn task() -> Task {
    testing::task("t", r#"{"userId": "mei"}"#)
}

/// A step of any of the tools.
pub(crate) fn step(id: &str, tool: &str, arguments: &Value) -> Step {
    testing::step(id, tool, POSTCONDITION, Some(&arguments.to_string()))
}

/// What a call that succeeds answers.
pub(crate) fn answer(host: &TestHost<Retail>, tool: &str, arguments: Value) -> Value {
    match host.perform(&task(), &step("s1", tool, &arguments)) {
        Ok(Answer::Done(outcome)) => serde_json::from_str(&outcome.data).expect("JSON"),
        other => panic!("{tool} {arguments}: {other:?}"),
    }
}

/// Why a call is refused; nothing must have changed.
pub(crate) fn refusal(host: &TestHost<Retail>, tool: &str, arguments: Value) -> String {
    assert!(Tool::named(tool).is_some());
    let before = retail_data::Dump::read(host.database()).expect("a dump");
    let refused = match host.perform(&task(), &step("s1", tool, &arguments)) {
        Ok(Answer::Declined(why)) => why,
        other => panic!("{tool} {arguments}: {other:?}"),
    };
    let after = retail_data::Dump::read(host.database()).expect("a dump");
    assert_eq!(
        before, after,
        "{tool} {arguments} is refused and changes something"
    );
    let refused: Value = serde_json::from_str(&refused).expect("JSON");
    refused["error"].as_str().expect("a message").to_owned()
}

/// Arguments of an address.
pub(crate) fn address(mut arguments: Value) -> Value {
    for (name, value) in [
        ("address1", "1 New Road"),
        ("address2", ""),
        ("city", "Austin"),
        ("state", "TX"),
        ("country", "USA"),
        ("zip", "78701"),
    ] {
        arguments[name] = json!(value);
    }
    arguments
}

/// How many rows say that something was carried out.
pub(crate) fn operations(host: &TestHost<Retail>) -> usize {
    let rows = host.database().query("SELECT number FROM operations", &[]);
    rows.expect("rows").rows.len()
}
