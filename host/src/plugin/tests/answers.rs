//! What a plugin answers, and what of it passes.

use super::*;
use crate::core::{
    contract::{Completed, Effect, Failure, StepAnswer},
    ports::domain::Domain as _,
};
use crate::plugin::{bindings::wharf::domain::types, description};

fn snapshot(goal: &str) -> Result<Result<JsonText, Failure>, Error> {
    probe().snapshot(&request(goal), Script::new())
}

fn perform(goal: &str) -> Result<Result<StepAnswer, Failure>, Error> {
    probe()
        .prepare(&request(goal), &step("change"))?
        .perform(Script::new())
}

#[track_caller]
fn violates<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), "plugin-contract-violation", "{error:?}");
    assert_ne!(error.why(), "");
}

#[test]
fn a_subject_or_every_violation_is_what_check_task_yields() {
    let plugin = probe();
    assert_eq!(
        plugin
            .check_task(&request("text:200"))
            .unwrap()
            .unwrap()
            .as_str()
            .len(),
        200
    );
    let violations = plugin
        .check_task(&request("refuse:because"))
        .unwrap()
        .unwrap_err();
    assert_eq!(
        (violations.len(), violations[0].message.as_str()),
        (1, "because")
    );
    violates(plugin.check_task(&request("text:201")));
    violates(plugin.check_task(&request("text:0")));
    violates(plugin.check_task(&request("refuse-silently")));
}

#[test]
fn a_write_has_a_key_and_a_key_has_a_length() {
    let plugin = probe();
    let key = |goal: &str, tool: &str| plugin.operation_key(&request(goal), tool, None);
    assert_eq!(key("-", "change").unwrap().unwrap().as_str(), "change");
    assert_eq!(key("-", "look").unwrap(), None);
    assert!(key("key:200", "look").unwrap().is_some());
    violates(key("-", "keyless"));
    violates(key("key:201", "change"));
    violates(key("key:0", "change"));
    assert_eq!(code(key("-", "unheard-of")), "plugin-unknown-tool");
}

#[test]
fn a_plan_is_accepted_or_refused_with_its_faults() {
    let plugin = probe();
    let faults = |goal: &str, steps| plugin.check_plan(&request(goal), &empty(), &plan(steps));
    assert!(faults("steps:2", 2).unwrap().is_empty());
    assert_eq!(faults("steps:2", 1).unwrap()[0].code, "steps");
    violates(faults("refuse-silently", 1));
}

#[test]
fn the_first_accepted_candidate_is_found_in_one_sandbox() {
    let plugin = probe();
    let mut candidates = (0..100).map(plan);
    let found = plugin
        .first_accepted(&request("steps:3"), &empty(), &mut candidates)
        .unwrap()
        .unwrap();
    assert_eq!(found.steps.len(), 3);
    assert_eq!(candidates.next().unwrap().steps.len(), 4);
    let none = plugin.first_accepted(&request("steps:3"), &empty(), &mut (0..2).map(plan));
    assert!(none.unwrap().is_none());
    // A trap ends the batch: the sandbox is not entered again.
    let mut candidates = (0..100).map(plan);
    let error = plugin
        .first_accepted(&request("trap-at:2"), &empty(), &mut candidates)
        .unwrap_err();
    assert_eq!(error.code(), "plugin-panic");
    assert_eq!(candidates.next().unwrap().steps.len(), 3);
}

#[test]
fn a_snapshot_is_strict_json_kept_as_written() {
    assert_eq!(
        snapshot(r#"json:{"b": 1.10}"#).unwrap().unwrap().as_str(),
        r#"{"b": 1.10}"#
    );
    for bad in [
        "json:",
        "json:{",
        "json:{} {}",
        r#"json:{"a":1,"a":2}"#,
        "json:9007199254740992",
        "json:NaN",
    ] {
        violates(snapshot(bad));
    }
}

#[test]
fn a_snapshot_fails_with_rejected_or_not_at_all() {
    assert_eq!(
        snapshot("rejected:no").unwrap(),
        Err(Failure::Rejected("no".into()))
    );
    violates(snapshot("changed:x"));
    violates(snapshot("unknown:x"));
}

#[test]
fn a_step_ends_in_its_postcondition_or_in_a_named_failure() {
    let done = perform("nothing").unwrap().unwrap();
    assert!(matches!(done, StepAnswer::Done { state, .. } if state == "changed"));
    assert!(matches!(
        perform("declined:{}").unwrap(),
        Ok(StepAnswer::Declined(_))
    ));
    assert_eq!(
        perform("changed:x").unwrap(),
        Err(Failure::EnvironmentChanged("x".into()))
    );
    assert_eq!(
        perform("rejected:x").unwrap(),
        Err(Failure::Rejected("x".into()))
    );
    violates(perform("state:elsewhere"));
    violates(perform("data:{"));
    violates(perform("declined:{"));
    violates(perform("unknown:x"));
    assert!(probe().prepare(&request("-"), &step("unheard-of")).is_err());
}

#[test]
fn statements_reach_the_transaction_and_rows_come_back() {
    let sql = Script::new();
    let rows = probe()
        .snapshot(&request("sql:SELECT ?1"), sql.clone())
        .unwrap()
        .unwrap();
    assert!(rows.as_str().contains("columns") && rows.as_str().contains("Integer(1)"));
    let seen = sql.seen.lock().unwrap();
    assert_eq!(seen[0].0, "SELECT ?1");
    assert_eq!(
        seen[0].1,
        [SqlValue::Integer(7), SqlValue::Null, SqlValue::Real(0.5)]
    );
}

#[test]
fn a_refused_statement_is_told_to_the_plugin_and_a_fatal_one_ends_the_call() {
    for (fault, told) in [
        (SqlFault::Denied("d".into()), "Denied"),
        (SqlFault::Constraint("c".into()), "Constraint"),
        (SqlFault::Limit("l".into()), "Limit"),
        (SqlFault::Failed("f".into()), "Failed"),
    ] {
        let answer = probe().snapshot(&request("sql:X"), Script::failing(fault));
        assert!(answer.unwrap().unwrap().as_str().contains(told));
    }
    let lost = Error::from(CacheError::Insecure { folder: "f".into() });
    let script = Script::failing(SqlFault::Fatal(lost));
    let error = probe().snapshot(&request("sql:X"), script).unwrap_err();
    assert_eq!(error.code(), "plugin-cache-insecure");
}

#[test]
fn the_plugin_cannot_use_the_transaction_after_the_call() {
    let sql = Script::new();
    probe()
        .snapshot(&request("sql:X"), sql.clone())
        .unwrap()
        .unwrap();
    assert_eq!(Arc::strong_count(&sql), 1);
    let prepared = probe().prepare(&request("spin"), &step("change")).unwrap();
    assert_eq!(code(prepared.perform(sql.clone())), "plugin-deadline");
    assert_eq!(Arc::strong_count(&sql), 1);
}

#[test]
fn a_conclusion_has_one_line_and_sound_artifacts() {
    let plugin = probe();
    let conclude = |goal: &str| {
        let completed = Completed {
            step: step("change"),
            operation_key: Some("change".into()),
            declined: false,
            data: empty(),
        };
        plugin.conclude(&request(goal), &empty(), &[completed])
    };
    let conclusion = conclude("nothing").unwrap().unwrap();
    assert_eq!(conclusion.result.as_str(), r#"{"steps":1}"#);
    assert_eq!(conclusion.artifacts[0].content, b"xxx");
    assert_eq!(conclude("refuse:x").unwrap().unwrap_err()[0].message, "x");
    violates(conclude("refuse-silently"));
    violates(conclude("result:{"));
    violates(conclude("summary:two\nlines"));
    violates(conclude("summary:\u{1b}[31mred"));
    violates(conclude("summary:"));
    violates(conclude("artifact-twice"));
    violates(conclude("media-type:\u{e9}"));
    let long = format!("artifact:{}", "x".repeat(81));
    for name in [
        "artifact:",
        "artifact:../x",
        "artifact:a/b",
        "artifact:.hidden",
        "artifact:..",
        "artifact:report.json",
        "artifact:Report.md",
        "artifact:a b",
        "artifact:\u{430}",
        &long,
    ] {
        violates(conclude(name));
    }
    conclude("artifact:report-2.A_b").unwrap().unwrap();
}

#[test]
fn text_that_is_not_utf8_is_an_error_of_the_plugin() {
    assert_eq!(
        code(probe().check_task(&request("not-utf8"))),
        "plugin-contract-violation"
    );
}

pub(super) fn described() -> types::Descriptor {
    types::Descriptor {
        name: "n".into(),
        version: "1".into(),
        instructions: String::new(),
        input_schema: "{}".into(),
        tools: vec![types::Tool {
            name: "t".into(),
            description: String::new(),
            effect: types::Effect::Read,
            postcondition: "p".into(),
            arguments: Some("{}".into()),
        }],
        migrations: vec![],
        max_steps: 1,
    }
}

#[test]
fn a_descriptor_is_checked_before_anything_relies_on_it() {
    let check = |change: fn(&mut types::Descriptor)| {
        let mut found = described();
        change(&mut found);
        description::description(found, &PluginLimits::standard())
            .map(|description| description.descriptor)
    };
    let fine = check(|_| ()).unwrap();
    assert_eq!(fine.tools[0].effect, Effect::Read);
    let migration = |version| types::Migration {
        version,
        sql: "x".into(),
    };
    let _ = migration;
    let faults: [fn(&mut types::Descriptor); 19] = [
        |d| d.name = "a b".into(),
        |d| d.name = String::new(),
        |d| d.version = " ".into(),
        |d| d.max_steps = 0,
        |d| d.max_steps = 101,
        |d| d.input_schema = "{".into(),
        |d| d.input_schema = "3".into(),
        |d| d.tools[0].name = "a.b".into(),
        |d| d.tools.push(d.tools[0].clone()),
        |d| d.tools[0].effect = types::Effect::External,
        |d| d.tools[0].postcondition = String::new(),
        |d| d.tools[0].arguments = Some("[".into()),
        |d| d.tools[0].arguments = Some("null".into()),
        |d| d.tools[0].arguments = Some(r#"{"type": "integre"}"#.into()),
        |d| d.input_schema = r##"{"$ref": "#"}"##.into(),
        |d| d.migrations = numbered(&[0]),
        |d| d.migrations = numbered(&[2]),
        |d| d.migrations = numbered(&[1, 1]),
        |d| d.migrations = numbered(&[1, 3, 2]),
    ];
    for (index, fault) in faults.into_iter().enumerate() {
        assert!(
            matches!(check(fault), Err(CallFault::Violation { .. })),
            "fault {index}"
        );
    }
    assert!(check(|d| d.migrations = numbered(&[1, 2, 5])).is_ok());
    assert!(
        check(|d| d.migrations = vec![types::Migration {
            version: 1,
            sql: " ".into()
        }])
        .is_err()
    );
}

fn numbered(versions: &[u32]) -> Vec<types::Migration> {
    let migration = |&version| types::Migration {
        version,
        sql: "x".into(),
    };
    versions.iter().map(migration).collect()
}
