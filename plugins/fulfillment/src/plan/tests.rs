use super::*;
use crate::fixture::{codes, input, snapshot};
use crate::snapshot::State;
use crate::tool::Tool;

const WHOLE: [&str; 4] = [
    "reserve_stock",
    "pack_order",
    "ship_standard",
    "read_receipt",
];

/// A ready plan of these tools: its steps are chained and expect what their tools lead to.
fn ready(tools: &[&str]) -> Plan {
    let mut steps: Vec<Step> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        steps.push(Step {
            id: format!("s{}", index + 1),
            tool: (*tool).to_owned(),
            depends_on: steps
                .last()
                .map(|step| step.id.clone())
                .into_iter()
                .collect(),
            expected: Tool::named(tool)
                .map_or("", |tool| tool.operation().postcondition())
                .to_owned(),
            arguments: None,
        });
    }
    Plan {
        goal: "a goal".to_owned(),
        status: PlanStatus::Ready,
        reason: "a reason".to_owned(),
        steps,
    }
}

fn needs_human(tools: &[&str]) -> Plan {
    Plan {
        status: PlanStatus::NeedsHuman,
        ..ready(tools)
    }
}

/// Code and step of each fault.
fn faults(snapshot: &Snapshot, plan: &Plan) -> Vec<(String, String)> {
    let faults = check(&input(), snapshot, plan);
    faults
        .into_iter()
        .map(|fault| (fault.code, fault.step.unwrap_or_default()))
        .collect()
}

fn faults_of_new(plan: &Plan) -> Vec<(String, String)> {
    faults(&snapshot(State::New), plan)
}

fn at(code: &str, step: &str) -> (String, String) {
    (code.to_owned(), step.to_owned())
}

fn both_rates(state: State, cents: i64) -> Snapshot {
    Snapshot {
        standard: Some(cents),
        economy: Some(cents),
        ..snapshot(state)
    }
}

#[test]
fn a_plan_of_every_operation_that_remains_is_accepted_with_either_carrier() {
    for (done, state) in [State::New, State::Reserved, State::Packed]
        .into_iter()
        .enumerate()
    {
        for carrier in ["ship_standard", "ship_economy"] {
            let mut tools = WHOLE;
            tools[2] = carrier;
            assert_eq!(faults(&snapshot(state), &ready(&tools[done..])), []);
        }
    }
    assert_eq!(
        faults(&snapshot(State::Shipped), &ready(&["read_receipt"])),
        []
    );
}

#[test]
fn an_empty_ready_plan_is_one_fault_in_every_state() {
    for state in [State::New, State::Reserved, State::Packed, State::Shipped] {
        assert_eq!(
            faults(&snapshot(state), &ready(&[])),
            [at("empty-plan", "")]
        );
    }
}

#[test]
fn each_missing_operation_is_a_fault_of_the_plan() {
    for left_out in 0..WHOLE.len() {
        let mut tools = WHOLE.to_vec();
        tools.remove(left_out);
        assert_eq!(faults_of_new(&ready(&tools)), [at("missing-operation", "")]);
    }
    assert_eq!(
        faults_of_new(&ready(&["read_receipt"])),
        [
            at("missing-operation", ""),
            at("missing-operation", ""),
            at("missing-operation", "")
        ]
    );
}

#[test]
fn a_wrong_order_is_one_fault_at_the_step_that_comes_too_late() {
    for (tools, step) in [
        (
            [
                "pack_order",
                "reserve_stock",
                "ship_standard",
                "read_receipt",
            ],
            "s2",
        ),
        (
            [
                "reserve_stock",
                "pack_order",
                "read_receipt",
                "ship_standard",
            ],
            "s4",
        ),
        (
            [
                "read_receipt",
                "reserve_stock",
                "pack_order",
                "ship_standard",
            ],
            "s2",
        ),
        (
            [
                "read_receipt",
                "ship_standard",
                "pack_order",
                "reserve_stock",
            ],
            "s2",
        ),
    ] {
        assert_eq!(faults_of_new(&ready(&tools)), [at("wrong-order", step)]);
    }
}

#[test]
fn an_operation_planned_twice_is_a_fault_of_the_second_step() {
    let tools = [
        "reserve_stock",
        "reserve_stock",
        "pack_order",
        "ship_standard",
        "read_receipt",
    ];
    assert_eq!(
        faults_of_new(&ready(&tools)),
        [at("duplicate-operation", "s2")]
    );
}

#[test]
fn two_carriers_are_one_operation_planned_twice() {
    let tools = [
        "reserve_stock",
        "pack_order",
        "ship_standard",
        "ship_economy",
        "read_receipt",
    ];
    assert_eq!(
        faults_of_new(&ready(&tools)),
        [at("duplicate-operation", "s4")]
    );
}

#[test]
fn an_operation_that_is_done_may_not_be_planned_again() {
    assert_eq!(
        faults(&snapshot(State::Packed), &ready(&WHOLE)),
        [at("operation-done", "s1"), at("operation-done", "s2")]
    );
    assert_eq!(
        faults(
            &snapshot(State::Shipped),
            &ready(&["ship_economy", "read_receipt"])
        ),
        [at("operation-done", "s1")]
    );
}

#[test]
fn an_unknown_tool_is_a_fault_and_performs_nothing() {
    let tools = [
        "reserve_stock",
        "pack_order",
        "ship_overnight",
        "read_receipt",
    ];
    assert_eq!(
        faults_of_new(&ready(&tools)),
        [at("unknown-tool", "s3"), at("missing-operation", "")]
    );
}

#[test]
fn a_carrier_above_the_limit_or_without_a_rate_is_unaffordable() {
    for standard in [Some(501), None] {
        let mut world = snapshot(State::New);
        world.standard = standard;
        assert_eq!(
            faults(&world, &ready(&WHOLE)),
            [at("unaffordable-carrier", "s3")]
        );
    }
}

#[test]
fn a_carrier_exactly_at_the_limit_is_affordable() {
    assert_eq!(faults(&both_rates(State::New, 500), &ready(&WHOLE)), []);
}

#[test]
fn a_ready_plan_for_an_infeasible_order_is_refused_once_per_obstacle() {
    assert_eq!(
        faults(&both_rates(State::New, 900), &ready(&WHOLE)),
        [at("no-affordable-carrier", "")]
    );
    let mut world = both_rates(State::New, 900);
    world.stock = 1;
    assert_eq!(
        faults(&world, &ready(&WHOLE)),
        [
            at("insufficient-stock", ""),
            at("no-affordable-carrier", "")
        ]
    );
}

#[test]
fn two_steps_of_one_id_are_a_fault_of_the_second() {
    let mut plan = ready(&WHOLE);
    plan.steps[2].id = "s1".to_owned();
    plan.steps[3].depends_on = vec!["s1".to_owned()];
    assert_eq!(faults_of_new(&plan), [at("duplicate-step-id", "s1")]);
}

#[test]
fn the_first_step_depends_on_nothing() {
    let mut plan = ready(&WHOLE);
    plan.steps[0].depends_on = vec!["s1".to_owned()];
    assert_eq!(faults_of_new(&plan), [at("wrong-depends-on", "s1")]);
}

#[test]
fn each_later_step_depends_on_the_step_before_it_and_on_nothing_else() {
    for wrong in [
        &[][..],
        &["s1"],
        &["s3"],
        &["s4"],
        &["none"],
        &["s1", "s2"],
        &["s2", "s2"],
    ] {
        let mut plan = ready(&WHOLE);
        plan.steps[2].depends_on = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(
            faults_of_new(&plan),
            [at("wrong-depends-on", "s3")],
            "{wrong:?}"
        );
    }
}

#[test]
fn a_step_expects_exactly_its_tools_postcondition() {
    for wrong in ["", "new", "Packed", "shipped"] {
        let mut plan = ready(&WHOLE);
        plan.steps[1].expected = wrong.to_owned();
        assert_eq!(
            faults_of_new(&plan),
            [at("wrong-expected", "s2")],
            "{wrong:?}"
        );
    }
}

#[test]
fn no_tool_takes_arguments() {
    for index in 0..WHOLE.len() {
        let mut plan = ready(&WHOLE);
        plan.steps[index].arguments = Some("{}".to_owned());
        assert_eq!(
            faults_of_new(&plan),
            [at("unexpected-arguments", &format!("s{}", index + 1))]
        );
    }
}

#[test]
fn all_faults_of_a_plan_are_listed_at_once() {
    let mut plan = ready(&["reserve_stock", "ship_standard", "pack_order", "fly"]);
    plan.steps[1].depends_on.clear();
    plan.steps[2].expected = "wrapped".to_owned();
    plan.steps[3].id = "s1".to_owned();
    let mut world = snapshot(State::New);
    world.standard = Some(900);
    assert_eq!(
        faults(&world, &plan),
        [
            at("wrong-depends-on", "s2"),
            at("duplicate-step-id", "s1"),
            at("unaffordable-carrier", "s2"),
            at("wrong-expected", "s3"),
            at("unknown-tool", "s1"),
            at("missing-operation", ""),
            at("wrong-order", "s3"),
        ]
    );
}

#[test]
fn escalation_is_accepted_only_for_an_infeasible_order() {
    assert_eq!(
        faults_of_new(&needs_human(&[])),
        [at("unjustified-escalation", "")]
    );
    assert_eq!(
        faults(&both_rates(State::Packed, 900), &needs_human(&[])),
        []
    );
    let mut world = snapshot(State::New);
    world.stock = 1;
    assert_eq!(faults(&world, &needs_human(&[])), []);
}

#[test]
fn one_unaffordable_carrier_does_not_justify_escalation() {
    let mut world = snapshot(State::Packed);
    world.standard = Some(900);
    assert_eq!(
        faults(&world, &needs_human(&[])),
        [at("unjustified-escalation", "")]
    );
}

#[test]
fn a_shipped_order_never_justifies_escalation() {
    let mut world = both_rates(State::Shipped, 900);
    world.stock = 0;
    assert_eq!(
        faults(&world, &needs_human(&[])),
        [at("unjustified-escalation", "")]
    );
}

#[test]
fn escalation_has_no_steps() {
    assert_eq!(
        faults(
            &both_rates(State::Packed, 900),
            &needs_human(&["read_receipt"])
        ),
        [at("escalation-with-steps", "")]
    );
    assert_eq!(
        codes(&check(
            &input(),
            &snapshot(State::New),
            &needs_human(&WHOLE)
        )),
        ["unjustified-escalation", "escalation-with-steps"]
    );
}

/// The host's model-free planner: sequences of different tools, shortest first, in declared order.
fn first_accepted(snapshot: &Snapshot) -> Option<Vec<&'static str>> {
    let mut candidates: Vec<Vec<&'static str>> = vec![Vec::new()];
    while !candidates.is_empty() {
        if let Some(found) = candidates
            .iter()
            .find(|tools| faults(snapshot, &ready(tools)).is_empty())
        {
            return Some(found.clone());
        }
        candidates = candidates
            .iter()
            .flat_map(|tools| {
                let unused = Tool::ALL
                    .map(Tool::name)
                    .into_iter()
                    .filter(|name| !tools.contains(name));
                unused.map(|name| [&tools[..], &[name]].concat())
            })
            .collect();
    }
    None
}

#[test]
fn a_search_over_the_declared_tools_finds_what_remains_with_the_first_affordable_carrier() {
    let mut world = snapshot(State::New);
    assert_eq!(first_accepted(&world), Some(WHOLE.to_vec()));
    world.state = State::Packed;
    assert_eq!(
        first_accepted(&world),
        Some(vec!["ship_standard", "read_receipt"])
    );
    world.standard = Some(900);
    assert_eq!(
        first_accepted(&world),
        Some(vec!["ship_economy", "read_receipt"])
    );
    world.state = State::Shipped;
    assert_eq!(first_accepted(&world), Some(vec!["read_receipt"]));
}

#[test]
fn a_search_finds_no_plan_for_an_infeasible_order() {
    assert_eq!(first_accepted(&both_rates(State::Packed, 900)), None);
    let mut world = snapshot(State::New);
    world.stock = 1;
    assert_eq!(first_accepted(&world), None);
}
