//! Which answers of a model become a plan: exactly one JSON object that host and plugin accept whole. Anything else stops the
//! task with all that is wrong, and nothing of it is executed.

use std::fs;

use serde_json::{Value, json};
use wharf_tests::{
    Ran, Workspace, built,
    demo::{self, TASK},
    script::{WHOLE, ends, needs_human, ready, says},
    sha256, wharf,
};

/// The demo's order, planned by this answer, is refused; returns the violations as `code` or `code step`.
fn refused(scenario: &str, answer: Value) -> Vec<String> {
    let workspace = Workspace::new();
    let shown = answer.to_string();
    let ran = demo::demo(&workspace, scenario)
        .script(workspace.script(&[answer]))
        .json()
        .run()
        .exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["status"], "partial", "{shown}");
    assert_eq!(report["stopReason"], "invalid-plan", "{shown}");
    for list in ["plans", "completed", "changes"] {
        assert_eq!(report[list], json!([]), "{shown}");
    }
    assert_eq!(report["result"], Value::Null);
    assert_eq!(report["usage"]["modelCalls"], 1);
    assert_eq!(report["usage"]["actionCalls"], 0);
    assert_eq!(workspace.ledger(), []);
    assert_eq!(workspace.select("SELECT * FROM orders"), [""; 0]);
    assert!(!workspace.output(TASK, "shipment.json").exists());
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    let violation = |detail: &Value| {
        assert_ne!(detail["message"], "", "{shown}");
        let code = detail["code"].as_str().unwrap();
        match detail["stepId"].as_str() {
            Some(step) => format!("{code} {step}"),
            None => code.to_owned(),
        }
    };
    let details = report["details"].as_array().unwrap();
    details.iter().map(violation).collect()
}

/// The demo's order, planned by these answers, is completed; returns the report.
fn accepted(scenario: &str, answers: &[Value]) -> Value {
    let workspace = Workspace::new();
    let ran = demo::demo(&workspace, scenario)
        .script(workspace.script(answers))
        .json()
        .run()
        .exits(0);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    ran.document()["report"].clone()
}

/// The whole plan, changed.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut plan = ready(&WHOLE);
    change(&mut plan);
    says(plan)
}

#[test]
fn the_plan_of_a_model_is_kept_as_it_was_accepted() {
    let plan = ready(&WHOLE);
    let report = accepted("stable", &[says(&plan)]);
    assert_eq!(report["plans"][0]["plan"], plan);
    assert_eq!(report["completed"][2]["step"], plan["steps"][2]);
    assert_eq!(report["result"]["cost"], 300);
}

#[test]
fn one_fence_and_blanks_around_a_plan_are_taken_off_and_unknown_fields_on_top_are_not_kept() {
    let mut plan = ready(&WHOLE);
    plan["confidence"] = json!({"high": true});
    let text = format!("\n  ```json\n{plan:#}\n```  \n");
    let report = accepted("stable", &[says(text)]);
    assert_eq!(report["plans"][0]["plan"], ready(&WHOLE));
}

/// P1: back-ticks within strings are text, also within a fence.
#[test]
fn back_ticks_within_a_string_are_only_text() {
    let mut plan = ready(&WHOLE);
    plan["reason"] = "Call ```reserve_stock``` and `pack_order`.\n```json\n{}\n```".into();
    for text in [
        plan.to_string(),
        format!("```json\n{plan}\n```"),
        format!("```\n{plan:#}\n```\n"),
    ] {
        let report = accepted("stable", &[says(text)]);
        assert_eq!(report["plans"][0]["plan"], plan);
    }
}

/// P4: whether nothing is enough is for the plugin to say; where it is, the task concludes at once.
#[test]
fn a_ready_plan_without_steps_concludes_at_once_where_the_plugin_accepts_it() {
    let workspace = Workspace::new();
    let component = built::test_guest("probe");
    let request = json!({
        "id": "nothing", "tenant": "tenant", "principal": "somebody", "goal": "steps:0",
        "plugin": {"name": "probe", "version": "0.1.0", "digest": sha256(&fs::read(&component).unwrap())},
        "budgets": {"maxPlans": 1, "maxActions": 0, "deadlineSeconds": 3600},
        "input": {},
    });
    let plan =
        json!({"goal": "Nothing.", "status": "ready", "reason": "All is done.", "steps": []});
    let ran = wharf("run")
        .arg("--plugin")
        .arg(component)
        .arg("--request")
        .arg(workspace.handed_in("request.json", request.to_string()))
        .script(workspace.script(&[says(&plan)]))
        .dir(workspace.path())
        .json()
        .run()
        .exits(0);
    let report = &ran.document()["report"];
    assert_eq!(report["status"], "completed");
    assert_eq!(report["plans"][0]["plan"], plan);
    assert_eq!(report["completed"], json!([]));
    assert_eq!(report["usage"]["modelCalls"], 1);
    assert_eq!(report["usage"]["actionCalls"], 0);
    assert_eq!(report["result"], json!({"steps": 0}));
    assert_eq!(workspace.ledger(), []);
}

/// Economy preference: 400 cents, where 300 would have done.
#[test]
fn the_dearer_carrier_may_be_planned_while_the_cheaper_one_is_affordable() {
    let tools = [
        "reserve_stock",
        "pack_order",
        "ship_economy",
        "read_receipt",
    ];
    let report = accepted("stable", &[says(ready(&tools))]);
    assert_eq!(report["result"]["carrier"], "economy");
    assert_eq!(report["result"]["cost"], 400);
}

/// P1: prose, fences in fences, a second document, a byte-order mark.
#[test]
fn anything_around_the_object_or_a_second_one_is_no_plan() {
    let plan = ready(&WHOLE);
    for text in [
        String::new(),
        "I cannot plan this.".to_owned(),
        format!("Here is the plan: {plan}"),
        format!("{plan}\nGood luck!"),
        format!("{plan}{plan}"),
        format!("{plan}\n{plan}"),
        format!("[{plan}]"),
        format!("```json\n```json\n{plan}\n```\n```"),
        format!("```json\n{plan}\n```\n```json\n{plan}\n```"),
        format!("Sure!\n```json\n{plan}\n```"),
        format!("\u{feff}{plan}"),
    ] {
        assert_eq!(
            refused("stable", says(&text)),
            ["answer-not-json"],
            "{text}"
        );
    }
}

/// P1: raw newlines, duplicate keys, other quotes, a cut text.
#[test]
fn a_text_that_is_no_strict_json_is_never_repaired() {
    let plan = ready(&WHOLE).to_string();
    for text in [
        plan.replace("\"This is what remains.\"", "\"This is\nwhat remains.\""),
        plan.replace("\"status\"", "\"status\":\"ready\",\"status\""),
        plan.replacen("\"tool\"", "\"tool\":\"pack_order\",\"tool\"", 1),
        plan.replace(']', ",]"),
        plan.replace('"', "'"),
        plan[..plan.len() / 2].to_owned(),
        plan[..plan.len() - 1].to_owned(),
    ] {
        assert_ne!(text, plan);
        assert_eq!(
            refused("stable", says(&text)),
            ["answer-not-json"],
            "{text}"
        );
    }
}

/// P2: `length` never becomes a plan.
#[test]
fn a_complete_plan_counts_only_if_the_answer_ended_by_itself() {
    for (reason, code) in [
        ("length", "answer-incomplete"),
        ("content_filter", "answer-filtered"),
        ("refusal", "answer-declined"),
        ("tool_calls", "answer-tool-call"),
        ("STOP", "answer-incomplete"),
        ("", "answer-incomplete"),
    ] {
        let answer = ends(reason, ready(&WHOLE));
        assert_eq!(refused("stable", answer), [code], "{reason}");
    }
}

#[test]
fn an_object_of_another_form_is_no_plan() {
    let forms: [fn(&mut Value); 6] = [
        |plan| drop(plan.as_object_mut().unwrap().remove("goal")),
        |plan| plan["status"] = "done".into(),
        |plan| plan["steps"] = "none".into(),
        |plan| plan["steps"][0]["timeout"] = 5.into(),
        |plan| plan["steps"][0]["dependsOn"] = "nothing".into(),
        |plan| plan["steps"][0]["id"] = 1.into(),
    ];
    for form in forms {
        assert_eq!(refused("stable", changed(form)), ["plan-form"]);
    }
}

/// P3: duplicate, empty, long and look-alike ids, a cycle, a dependency on itself and on nothing. The first name that was no
/// identifier had hidden all else that was wrong.
#[test]
fn everything_that_is_wrong_with_ids_and_dependencies_is_listed_at_once() {
    let long = "x".repeat(81);
    let answer = changed(|plan| {
        plan["steps"][0]["id"] = "".into();
        plan["steps"][0]["dependsOn"] = json!(["pack_order"]);
        // Cyrillic.
        plan["steps"][1]["id"] = "\u{440}ack_order".into();
        plan["steps"][1]["dependsOn"] = json!(["", "\u{440}ack_order"]);
        plan["steps"][2]["id"] = long.clone().into();
        plan["steps"][2]["dependsOn"] = json!(["\u{440}ack_order", "read_receipt"]);
        plan["steps"][3]["dependsOn"] = json!([long]);
        let mut again = plan["steps"][3].clone();
        again["tool"] = "pack_order".into();
        plan["steps"].as_array_mut().unwrap().push(again);
    });
    let shown = format!("{}…", "x".repeat(80));
    assert_eq!(
        refused("stable", answer),
        [
            "invalid-step-id ".to_owned(),
            "unknown-dependency ".to_owned(),
            "invalid-step-id \u{440}ack_order".to_owned(),
            "self-dependency \u{440}ack_order".to_owned(),
            format!("invalid-step-id {shown}"),
            format!("late-dependency {shown}"),
            "duplicate-step read_receipt".to_owned(),
        ]
    );
}

/// P3: as a person sees it, a name may be the same.
#[test]
fn an_id_in_look_alike_letters_is_refused_and_never_taken_for_another() {
    for id in [
        "\u{440}ack_order",
        "pack\u{200b}_order",
        "ｐack_order",
        "pack_order ",
        "pack\u{301}_order",
        "ＰACK",
    ] {
        let answer = changed(|plan| plan["steps"][1]["id"] = id.into());
        let found = refused("stable", answer);
        assert!(found[0].starts_with("invalid-step-id "), "{found:?}");
        // The step that hangs on the right name hangs on nothing.
        assert_eq!(found[1..], ["unknown-dependency ship_standard"], "{id}");
    }
}

/// P3, invalid tool, invalid dependency: all violations at once.
#[test]
fn the_host_lists_everything_that_is_wrong_with_a_plans_structure_at_once() {
    let answer = changed(|plan| {
        plan["goal"] = " ".into();
        plan["reason"] = "x".repeat(1001).into();
        plan["steps"][0]["dependsOn"] = json!(["reserve_stock"]);
        plan["steps"][1]["dependsOn"] = json!(["ship_standard", "nowhere"]);
        plan["steps"][2]["tool"] = "teleport".into();
        plan["steps"][3]["id"] = "pack_order".into();
        plan["steps"][3]["expected"] = "paid".into();
        plan["steps"][3]["arguments"] = json!({"fast": true});
    });
    let found = refused("stable", answer);
    for expected in [
        "text-out-of-bounds",
        "self-dependency reserve_stock",
        "late-dependency pack_order",
        "unknown-dependency pack_order",
        "unknown-tool ship_standard",
        "duplicate-step pack_order",
        "wrong-expected pack_order",
        "unexpected-arguments pack_order",
    ] {
        assert!(
            found.iter().any(|found| found == expected),
            "{expected}: {found:?}"
        );
    }
    let texts = found.iter().filter(|found| *found == "text-out-of-bounds");
    assert_eq!(texts.count(), 2);
}

#[test]
fn a_plan_with_more_steps_than_the_plugin_allows_is_refused() {
    let tools = [
        "reserve_stock",
        "pack_order",
        "ship_standard",
        "ship_economy",
        "read_receipt",
        "read_receipt",
    ];
    let mut plan = ready(&tools);
    plan["steps"][5]["id"] = "again".into();
    let found = refused("stable", says(plan));
    assert_eq!(found[0], "too-many-steps");
}

/// Incomplete plan, P4: an empty one, and others that lack something or hold too much.
#[test]
fn the_domain_refuses_a_plan_that_is_not_exactly_what_remains() {
    let cases: [(&[&str], &[&str]); 8] = [
        (&[], &["empty-plan"]),
        (&WHOLE[..3], &["missing-operation"]),
        (&WHOLE[1..], &["missing-operation"]),
        (
            &["reserve_stock", "ship_standard", "read_receipt"],
            &["missing-operation"],
        ),
        (
            &[
                "pack_order",
                "reserve_stock",
                "ship_standard",
                "read_receipt",
            ],
            &["wrong-order reserve_stock"],
        ),
        (
            &[
                "reserve_stock",
                "pack_order",
                "ship_standard",
                "ship_economy",
                "read_receipt",
            ],
            &["duplicate-operation ship_economy"],
        ),
        (&["read_receipt"], &["missing-operation"; 3]),
        (
            &[
                "reserve_stock",
                "pack_order",
                "read_receipt",
                "ship_standard",
            ],
            &["wrong-order ship_standard"],
        ),
    ];
    for (tools, expected) in cases {
        assert_eq!(refused("stable", says(ready(tools))), expected, "{tools:?}");
    }
}

#[test]
fn the_domain_refuses_a_step_that_hangs_on_another_than_the_one_before() {
    let answer = changed(|plan| plan["steps"][2]["dependsOn"] = json!(["reserve_stock"]));
    assert_eq!(
        refused("stable", answer),
        ["wrong-depends-on ship_standard"]
    );
    let answer = changed(|plan| plan["steps"][1]["dependsOn"] = json!([]));
    assert_eq!(refused("stable", answer), ["wrong-depends-on pack_order"]);
}

#[test]
fn a_carrier_above_the_limit_is_refused_while_another_is_affordable() {
    let workspace = Workspace::new();
    let tools = [
        "reserve_stock",
        "pack_order",
        "ship_economy",
        "read_receipt",
    ];
    let ran = demo::demo(&workspace, "stable")
        .args(["--max-shipping-cents", "350"])
        .script(workspace.script(&[says(ready(&tools))]))
        .json()
        .run()
        .exits(11);
    let detail = &ran.document()["report"]["details"][0];
    assert_eq!(detail["code"], "unaffordable-carrier");
    assert_eq!(detail["stepId"], "ship_economy");
}

#[test]
fn asking_for_a_person_is_accepted_only_where_one_is_needed() {
    let unjustified = says(needs_human());
    assert_eq!(refused("stable", unjustified), ["unjustified-escalation"]);
    let mut with_steps = ready(&WHOLE);
    with_steps["status"] = "needs-human".into();
    assert_eq!(
        refused("stable", says(&with_steps)),
        ["unjustified-escalation", "escalation-with-steps"]
    );
    let workspace = Workspace::new();
    let ran = demo::demo(&workspace, "no-stock")
        .script(workspace.script(&[says(needs_human())]))
        .json()
        .run()
        .exits(10);
    let report = &ran.document()["report"];
    assert_eq!(report["plans"][0]["plan"], needs_human());
    assert_eq!(report["details"][0]["message"], needs_human()["reason"]);
}

#[test]
fn a_ready_plan_for_an_order_that_cannot_be_done_is_refused() {
    assert_eq!(
        refused("no-stock", says(ready(&WHOLE))),
        ["insufficient-stock"]
    );
}

#[test]
fn a_replan_must_hold_what_remains_and_no_more() {
    let workspace = Workspace::new();
    let answers = [says(ready(&WHOLE)), says(ready(&WHOLE))];
    let ran = demo::demo(&workspace, "price-change")
        .script(workspace.script(&answers))
        .json()
        .run()
        .exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["stopReason"], "invalid-plan");
    let codes: Vec<_> = report["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|detail| (detail["code"].as_str().unwrap(), detail["stepId"].as_str()))
        .collect();
    assert_eq!(
        codes,
        [
            ("operation-done", Some("reserve_stock")),
            ("operation-done", Some("pack_order")),
            ("unaffordable-carrier", Some("ship_standard")),
        ]
    );
    // What was done before stays done, and is told.
    assert_eq!(report["completed"].as_array().unwrap().len(), 2);
    assert_eq!(report["result"], Value::Null);
    assert_eq!(workspace.ledger().len(), 2);
}

/// A task of the probe, which does what its goal says, planned with these steps: `id`, `tool` and, where there are some,
/// `arguments`.
fn probe(workspace: &Workspace, goal: &str, steps: &[Value]) -> Ran {
    let component = built::test_guest("probe");
    let request = json!({
        "id": "probe-1", "tenant": "tests", "principal": "tester", "goal": goal,
        "plugin": {
            "name": "probe", "version": "0.1.0", "digest": sha256(&fs::read(&component).unwrap())
        },
        "budgets": {"maxPlans": 1, "maxActions": 5, "deadlineSeconds": 60},
        "input": {},
    });
    let mut plan = ready(&[]);
    let expected = |tool: &str| match tool {
        "look" => "seen",
        "mix" => "mixed",
        _ => "changed",
    };
    for step in steps {
        let mut step = step.clone();
        step["dependsOn"] = json!([]);
        step["expected"] = expected(step["tool"].as_str().unwrap()).into();
        plan["steps"].as_array_mut().unwrap().push(step);
    }
    wharf("run")
        .arg("--plugin")
        .arg(component)
        .arg("--request")
        .arg(workspace.handed_in("request.json", request.to_string()))
        .dir(workspace.path())
        .script(workspace.script(&[says(plan)]))
        .json()
        .run()
}

/// The faults that a plan was refused for, as `step code: message`, after which nothing has happened; and what was logged.
fn refused_of_probe(goal: &str, steps: &[Value]) -> (Vec<String>, String) {
    let workspace = Workspace::new();
    let ran = probe(&workspace, goal, steps).exits(11);
    let report = &ran.document()["report"];
    assert_eq!(report["stopReason"], "invalid-plan");
    assert_eq!(report["completed"], json!([]));
    assert_eq!(report["usage"]["actionCalls"], 0);
    assert_eq!(workspace.ledger(), []);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    let details = report["details"].as_array().unwrap();
    let text = |detail: &Value, key: &str| detail[key].as_str().unwrap_or("-").to_owned();
    let line = |detail| {
        let [step, code, message] = ["stepId", "code", "message"].map(|key| text(detail, key));
        format!("{step} {code}: {message}")
    };
    (details.iter().map(line).collect(), ran.stderr)
}

#[test]
fn arguments_that_do_not_fit_are_refused_with_every_fault_before_anything_is_done() {
    let steps = [
        json!({"id": "s1", "tool": "change"}),
        json!({"id": "s2", "tool": "mix", "arguments": {"parts": ["a", "B", "c", 4], "size": 1}}),
        json!({"id": "s3", "tool": "mix"}),
        json!({"id": "s4", "tool": "mix", "arguments": ["red"]}),
        json!({"id": "s5", "tool": "look", "arguments": {"colour": "red"}}),
    ];
    assert_eq!(
        refused_of_probe("nothing else", &steps).0,
        [
            "s2 invalid-arguments: arguments/parts: the list has more than 3 items",
            "s2 invalid-arguments: arguments/parts/1: \"B\" does not match \"^[a-z]+$\"",
            "s2 invalid-arguments: arguments/parts/3: 4 is not of type \"string\"",
            "s2 invalid-arguments: arguments: Additional properties are not allowed ('size' was unexpected)",
            "s2 invalid-arguments: arguments: \"colour\" is a required property",
            "s3 missing-arguments: `mix` takes arguments",
            "s4 invalid-arguments: arguments must be a JSON object",
            "s5 unexpected-arguments: `look` takes no arguments",
        ]
    );
}

#[test]
fn arguments_that_fit_are_kept_and_reach_the_ledger() {
    let workspace = Workspace::new();
    let step = json!({"id": "s1", "tool": "mix", "arguments": {"parts": [], "colour": "red"}});
    let ran = probe(&workspace, "nothing else", std::slice::from_ref(&step)).exits(0);
    let completed = &ran.document()["report"]["completed"][0]["step"];
    assert_eq!(completed["arguments"], step["arguments"]);
    assert_eq!(workspace.ledger().len(), 1);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

#[test]
fn a_plugin_that_fails_on_a_plan_the_host_refuses_does_not_end_the_run() {
    // It panics when it is asked about a plan of two steps, whatever they are.
    let steps = |second: &str| {
        [
            json!({"id": "s1", "tool": "change"}),
            json!({"id": second, "tool": "look"}),
        ]
    };
    let (faults, logged) = refused_of_probe("trap-at:2", &steps("s1"));
    assert_eq!(faults, ["s1 duplicate-step: the step id `s1` stands twice"]);
    assert!(
        logged.contains("WARN") && logged.contains("that many steps"),
        "{logged}"
    );
    let ran = probe(&Workspace::new(), "trap-at:2", &steps("s2"));
    let _ = ran.refusal(1, "plugin-panic");
}
