use serde_json::{Value, json};
use wharf_plugin::testing::{chain, task as task_of};
use wharf_plugin::{Plan, PlanStatus, Step};

use crate::fixture::{address, shop, step, task};

fn cancel(id: &str) -> Step {
    let arguments = json!({"order_id": "#W1", "reason": "no longer needed"});
    step(id, "cancel_pending_order", &arguments)
}

fn look_up(id: &str) -> Step {
    step(id, "get_order_details", &json!({"order_id": "#W9"}))
}

/// Code and step of each fault, in the shop of the fixture.
fn faults(input: &Value, plan: &Plan) -> Vec<(String, String)> {
    let task = task_of("t", &input.to_string());
    let faults = shop().check_plan(&task, plan).err().unwrap_or_default();
    faults
        .into_iter()
        .map(|fault| (fault.code, fault.step.unwrap_or_default()))
        .collect()
}

fn of_mei(steps: impl IntoIterator<Item = Step>) -> Vec<(String, String)> {
    faults(&json!({"userId": "mei"}), &chain(steps))
}

fn at(code: &str, step: &str) -> (String, String) {
    (code.to_owned(), step.to_owned())
}

#[test]
fn a_plan_may_look_up_anything_and_change_what_is_the_customers() {
    let move_house = step(
        "s3",
        "modify_user_address",
        &address(json!({"user_id": "mei"})),
    );
    assert_eq!(of_mei([look_up("s1"), cancel("s2"), move_house]), []);
}

#[test]
fn a_plan_without_steps_says_that_nothing_is_to_be_done() {
    assert_eq!(of_mei([]), []);
}

#[test]
fn a_call_that_will_be_refused_may_be_planned() {
    let arguments = json!({"order_id": "#W2", "reason": "for fun"});
    assert_eq!(of_mei([step("s1", "cancel_pending_order", &arguments)]), []);
}

#[test]
fn what_is_not_the_customers_is_not_touched() {
    let foreign = json!({"order_id": "#W3", "reason": "no longer needed"});
    let nowhere = json!({"order_id": "W1", "reason": "no longer needed"});
    let otto = address(json!({"user_id": "otto"}));
    assert_eq!(
        of_mei([
            step("s1", "cancel_pending_order", &foreign),
            step("s2", "cancel_pending_order", &nowhere),
            step("s3", "modify_user_address", &otto),
        ]),
        [
            at("not-the-customers", "s1"),
            at("not-the-customers", "s2"),
            at("not-the-customers", "s3")
        ]
    );
}

#[test]
fn without_a_known_customer_a_plan_only_looks_things_up() {
    for input in [json!({}), json!({"userId": "nobody"})] {
        assert_eq!(faults(&input, &chain([look_up("s1")])), []);
        assert_eq!(
            faults(&input, &chain([look_up("s1"), cancel("s2")])),
            [at("no-customer", "s2")]
        );
    }
}

#[test]
fn a_change_stands_in_a_plan_once_however_its_arguments_are_written() {
    let mut again = cancel("s3");
    again.arguments =
        Some(r##"{ "reason": "no longer needed", "order_id": "\u0023W1" }"##.to_owned());
    assert_eq!(
        of_mei([cancel("s1"), look_up("s2"), again]),
        [at("duplicate-operation", "s3")]
    );
    let twice = [look_up("s1"), look_up("s2")];
    assert_eq!(of_mei(twice), []);
}

#[test]
fn what_the_task_has_carried_out_is_not_planned_again() {
    let host = shop();
    host.perform(&task(), &cancel("s1")).expect("an answer");
    let plan = chain([cancel("s1")]);
    let codes = |task| {
        let faults = host.check_plan(&task, &plan).err().unwrap_or_default();
        faults
            .into_iter()
            .map(|fault| fault.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(task()), ["operation-done"]);
    assert!(codes(task_of("another", r#"{"userId": "mei"}"#)).is_empty());
}

#[test]
fn all_faults_of_a_plan_are_listed_at_once() {
    let mut plan = chain([
        step("s1", "get_order_details", &json!({"order": "#W1"})),
        step("s2", "think", &json!({})),
        step("s3", "calculate", &json!({"expression": 1})),
        step("s4", "list_all_product_types", &json!([])),
        cancel("s5"),
        cancel("s5"),
    ]);
    plan.steps[2].expected = "calculated".to_owned();
    plan.steps[3].depends_on.clear();
    plan.steps[5].depends_on = vec!["s5".to_owned()];
    let mut missing = cancel("s6");
    missing.arguments = None;
    missing.depends_on = vec!["s5".to_owned()];
    plan.steps.push(missing);
    assert_eq!(
        faults(&json!({"userId": "mei"}), &plan),
        [
            at("wrong-depends-on", "s4"),
            at("duplicate-step-id", "s5"),
            at("invalid-arguments", "s1"),
            at("invalid-arguments", "s1"),
            at("unknown-tool", "s2"),
            at("wrong-expected", "s3"),
            at("invalid-arguments", "s3"),
            at("invalid-arguments", "s4"),
            at("duplicate-operation", "s5"),
            at("missing-arguments", "s6"),
        ]
    );
}

#[test]
fn a_plan_that_needs_a_person_has_no_steps() {
    let mut plan = chain([]);
    plan.status = PlanStatus::NeedsHuman;
    assert_eq!(faults(&json!({}), &plan), []);
    plan.steps.push(look_up("s1"));
    assert_eq!(faults(&json!({}), &plan), [at("escalation-with-steps", "")]);
}
