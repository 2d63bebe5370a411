//! The benchmark's own tasks, on its own data, against its published end states.
//!
//! The data is not part of the project. `WHARF_TAU2_DATA` names the folder; without it,
//! `../shared/data/tau2-retail` beside the repository is taken, and without that the tests say that they
//! were skipped.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use retail_data::{Dump, Gold, GoldTask, Scenario, Shop};
use serde_json::Value;
use wharf_plugin::testing::{TestHost, task};
use wharf_plugin::{Answer, Plan, PlanStatus, Step, Tx};

use crate::Retail;

struct Data {
    shop: Shop,
    scenarios: Vec<Scenario>,
    gold: Gold,
}

/// The folder, if there is one.
#[expect(
    clippy::disallowed_methods,
    reason = "only the caller of the tests knows where the data is"
)]
fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tau2-retail");
    let folder = std::env::var_os("WHARF_TAU2_DATA").map_or(beside, PathBuf::from);
    folder.join("gold.json").is_file().then_some(folder)
}

fn data() -> Option<&'static Data> {
    static DATA: OnceLock<Option<Data>> = OnceLock::new();
    let data = DATA.get_or_init(|| {
        let folder = folder()?;
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        Some(Data {
            shop: Shop::parse(&read("db.json")).expect("db.json"),
            scenarios: Scenario::parse_all(&read("tasks.json")).expect("tasks.json"),
            gold: Gold::parse(&read("gold.json")).expect("gold.json"),
        })
    });
    if data.is_none() {
        // Not by `println`, which the runner would keep to itself: `cargo xtask test` counts these lines.
        let line = "\nskipped: no tau2-bench data; name its folder in WHARF_TAU2_DATA\n";
        std::io::stdout()
            .write_all(line.as_bytes())
            .expect("standard output");
    }
    data.as_ref()
}

fn seeded(data: &Data) -> TestHost<Retail> {
    let host = TestHost::new();
    host.seed(&data.shop.seed().expect("a seed"));
    host
}

fn plan(scenario: &Scenario) -> Plan {
    let plan = scenario.plan();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let steps = plan["steps"].as_array().expect("steps");
    Plan {
        goal: text(&plan["goal"]),
        status: PlanStatus::Ready,
        reason: text(&plan["reason"]),
        steps: steps
            .iter()
            .map(|step| Step {
                id: text(&step["id"]),
                tool: text(&step["tool"]),
                depends_on: step["dependsOn"]
                    .as_array()
                    .expect("ids")
                    .iter()
                    .map(text)
                    .collect(),
                expected: text(&step["expected"]),
                arguments: Some(step["arguments"].to_string()),
            })
            .collect(),
    }
}

#[test]
fn the_untouched_data_has_the_published_hashes() {
    let Some(data) = data() else { return };
    let dump = Dump::read(seeded(data).database()).expect("a dump");
    assert_eq!(dump.tau2_hash(), data.gold.initial_tau2_hash);
    assert_eq!(dump.canonical_hash(), data.gold.initial_canonical_hash);
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    calls: usize,
    reads: usize,
    refused_reads: usize,
    writes: usize,
    changes: usize,
    refused_writes: usize,
}

#[test]
fn all_tasks_lead_to_the_published_end_states_and_every_change_is_counted_once() {
    let Some(data) = data() else { return };
    let template = seeded(data);
    let mut totals = Totals::default();
    assert_eq!(data.scenarios.len(), data.gold.tasks.len());
    for (scenario, gold) in data.scenarios.iter().zip(&data.gold.tasks) {
        assert_eq!(scenario.id, gold.id);
        run(data, &template.copy(), scenario, gold, &mut totals);
    }
    let expected = Totals {
        calls: 550,
        reads: 358,
        refused_reads: 16,
        writes: 174,
        changes: 173,
        refused_writes: 2,
    };
    assert_eq!(totals, expected);
}

fn run(
    data: &Data,
    host: &TestHost<Retail>,
    scenario: &Scenario,
    gold: &GoldTask,
    totals: &mut Totals,
) {
    let id = &scenario.id;
    let task = task(
        &format!("tau2-{id}"),
        &scenario.input(&data.shop).to_string(),
    );
    let finished = host.run(&task, &plan(scenario));
    let conclusion = finished
        .conclusion
        .unwrap_or_else(|faults| panic!("{id}: {faults:?}"));

    let result: Value = serde_json::from_str(&conclusion.result).expect("JSON");
    let answers = result["answers"].as_array().expect("answers");
    let answers: Vec<_> = answers
        .iter()
        .map(|answer| {
            (
                answer["tool"].as_str(),
                answer["ok"].as_bool(),
                answer["error"].as_str(),
            )
        })
        .collect();
    let expected: Vec<_> = gold
        .steps
        .iter()
        .map(|step| (Some(step.name.as_str()), Some(step.ok), step.message()))
        .collect();
    assert_eq!(answers, expected, "task {id}");

    let tx = Tx::over(host.database());
    let noted: Vec<(String, bool)> = tx
        .rows("SELECT tool, changed FROM operations ORDER BY number", &[])
        .expect("rows");
    let carried_out: Vec<_> = scenario
        .calls
        .iter()
        .zip(&gold.steps)
        .filter(|(call, step)| call.writes() && step.ok)
        .map(|(call, step)| (call.name.clone(), step.changed))
        .collect();
    assert_eq!(noted, carried_out, "task {id}");

    let dump = Dump::read(host.database()).expect("a dump");
    assert_eq!(dump.tau2_hash(), gold.tau2_hash, "task {id}");
    assert_eq!(dump.canonical_hash(), gold.canonical_hash, "task {id}");

    for (call, step) in scenario.calls.iter().zip(&gold.steps) {
        totals.calls += 1;
        totals.changes += usize::from(step.changed);
        let counter = match (call.writes(), step.ok) {
            (true, true) => &mut totals.writes,
            (true, false) => &mut totals.refused_writes,
            (false, true) => &mut totals.reads,
            (false, false) => &mut totals.refused_reads,
        };
        *counter += 1;
    }
}

/// The end state does not show it, so the domain's own count must.
#[test]
fn a_change_that_is_made_twice_does_not_show_in_the_end_state_but_in_the_count() {
    let Some(data) = data() else { return };
    let template = seeded(data);
    let (mut repeated, mut refused) = (0, 0);
    for (scenario, gold) in data.scenarios.iter().zip(&data.gold.tasks) {
        let host = template.copy();
        let input = scenario.input(&data.shop).to_string();
        let task = task(&format!("tau2-{}", scenario.id), &input);
        for ((step, call), gold) in plan(scenario)
            .steps
            .iter()
            .zip(&scenario.calls)
            .zip(&gold.steps)
        {
            let perform = || host.perform(&task, step).expect("an answer");
            assert_eq!(matches!(perform(), Answer::Done(_)), gold.ok);
            if gold.ok && call.writes() {
                match perform() {
                    Answer::Done(_) => repeated += 1,
                    Answer::Declined(_) => refused += 1,
                }
            }
        }
        let dump = Dump::read(host.database()).expect("a dump");
        assert_eq!(dump.tau2_hash(), gold.tau2_hash, "task {}", scenario.id);
    }
    assert_eq!((repeated, refused), (35, 139));
}
